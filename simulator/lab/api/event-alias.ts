import type { KubeObject } from './objects.ts';

// events.k8s.io/v1 shows the core/v1 Events under newer field names, as the real server does.
const renamed = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  reportingComponent: 'reportingController',
} satisfies Record<string, string>;

const toNew: Readonly<Record<string, string>> = renamed;
const toOld: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(renamed).map(([old, name]) => [name, old]),
);

const rename = (
  object: KubeObject,
  names: Readonly<Record<string, string>>,
  apiVersion: string,
): KubeObject => ({
  ...object,
  ...Object.fromEntries(Object.entries(object).map(([field, value]) => [names[field] ?? field, value])),
  ...Object.fromEntries(Object.keys(names).map((field) => [field, undefined])),
  apiVersion,
});

export const aliasOfCoreEvents = (involved: readonly string[]): Alias => ({
  of: { group: '', plural: 'events' },
  toStored: (object) => rename(object, toOld, 'v1'),
  fromStored: (object) => rename(object, toNew, 'events.k8s.io/v1'),
  fields: {
    ...Object.fromEntries(involved.map((field) => [`regarding.${field}`, `involvedObject.${field}`])),
    reason: 'reason',
    reportingController: 'reportingComponent',
    type: 'type',
  },
});

export interface Alias {
  readonly of: { readonly group: string; readonly plural: string };
  readonly toStored: (object: KubeObject) => KubeObject;
  readonly fromStored: (object: KubeObject) => KubeObject;
  readonly fields?: Readonly<Record<string, string>>;
}
