import { loadDriver } from '../../../shared/drivers/index.ts';
import type { KindName } from '../../../shared/ports/resources.ts';
import { driverNames } from '../../../shared/schema/driver-names.ts';
import { group, type ResourceKind, resourceKinds, version } from '../../../shared/schema/resource-kinds.ts';
import { type Structural, structuralOf } from './structural.ts';

/** Fields that resources do not have: a name is metadata, and some are ours to set. */
const notWritten: readonly string[] = ['name', 'made', 'memoryOverhead'];

interface Rule {
  /** Where in the spec; empty: the spec itself. */
  readonly at: string;
  readonly rule: string;
  readonly message: string;
}

/** A name with a dash is an expression in that language, unless it is written like this. */
const escaped = (name: string): string => name.replaceAll('-', '__dash__');

const onlyWith = (driver: string): Rule => ({
  at: '',
  rule: `!has(self.${escaped(driver)}) || self.powerInterface == '${driver}'`,
  message: `the section ${driver} is for powerInterface: ${driver}`,
});

/** What a schema cannot say, in the API server's own language. The zod schemas say the same. */
const rules: Readonly<Record<KindName, readonly Rule[]>> = {
  autoscaler: [],
  pool: [
    {
      at: 'limits',
      rule: '!has(self.maxNodes) || self.maxNodes == 0 || !has(self.minNodes) || self.minNodes <= self.maxNodes',
      message: 'minNodes must not exceed maxNodes',
    },
  ],
  node: [
    ...driverNames.map(onlyWith),
    {
      at: '',
      rule: "self.powerInterface != 'redfish' || has(self.mgmtAddress)",
      message: 'redfish needs mgmtAddress, the address of the BMC',
    },
    { at: 'watts', rule: 'self.idle <= self.max', message: 'idle must not exceed max' },
  ],
};

/** One CustomResourceDefinition, as applied to a cluster. */
export async function definitionOf(name: KindName): Promise<object> {
  const { kind, plural, shortNames, does, columns, status }: ResourceKind = resourceKinds[name];
  const spec = await specOf(name);
  for (const field of notWritten) {
    delete spec.properties?.[field];
    if (spec.required) spec.required = spec.required.filter((one) => one !== field);
  }
  if (spec.required?.length === 0) delete spec.required;
  for (const { at, rule, message } of rules[name]) {
    const target = at ? spec.properties?.[at] : spec;
    if (target)
      target['x-kubernetes-validations'] = [...(target['x-kubernetes-validations'] ?? []), { rule, message }];
  }
  spec.description = does;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [...shortNames],
        categories: ['bamel'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns.map((column) => ({ ...column })),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: does,
              required: ['spec'],
              properties: { ...head(), spec, status: statusOf(structuralOf(status)) },
            },
          },
        },
      ],
    },
  };
}

const head = (): Record<string, Structural> => ({
  apiVersion: { type: 'string', description: `${group}/${version}` },
  kind: { type: 'string', description: 'what it is' },
  metadata: { type: 'object' },
});

async function specOf(name: KindName): Promise<Structural> {
  const parts = resourceKinds[name].spec.map(structuralOf);
  const spec: Structural = {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
  if (name !== 'node' || !spec.properties) return spec;
  spec.properties.powerInterface = { ...spec.properties.powerInterface, enum: [...driverNames] };
  for (const driver of driverNames) {
    const { options } = await loadDriver(driver);
    spec.properties[driver] = {
      ...structuralOf(options),
      description: `options of powerInterface: ${driver}`,
    };
  }
  return spec;
}

/** Conditions are a map by type, so that whoever else sets one does not remove ours. */
function statusOf(status: Structural): Structural {
  const conditions = status.properties?.conditions;
  if (conditions)
    Object.assign(conditions, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
  return { ...status, description: 'What is known about it; written by bamel.' };
}
