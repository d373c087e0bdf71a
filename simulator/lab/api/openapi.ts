import { groupVersionOf, type ResourceType } from './resource-types.ts';
import type { TypeTable } from './type-table.ts';

const rootOf = (groupVersion: string) =>
  groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`;

function pathOf(type: ResourceType): string {
  const home = type.namespaced ? '/namespaces/{namespace}' : '';
  return `/${rootOf(groupVersionOf(type))}${home}/${type.plural}/{name}`;
}

/**
 * As much of /openapi/v3 as kubectl needs to leave the checking of fields to the server:
 * every kind can be patched, with a `fieldValidation` parameter. Schemas are not told.
 */
export function openapi(types: TypeTable, path: string): object | undefined {
  if (path === '/openapi/v3') {
    const roots = new Set([...types.all()].map((type) => rootOf(groupVersionOf(type))));
    const paths = [...roots].map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }]);
    return { paths: Object.fromEntries(paths) };
  }
  const served = [...types.all()].filter((type) => path === `/openapi/v3/${rootOf(groupVersionOf(type))}`);
  if (!served.length) return undefined;
  const patch = ({ group, version, kind }: ResourceType) => ({
    parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
    responses: {},
    'x-kubernetes-group-version-kind': { group, version, kind },
  });
  return {
    openapi: '3.0.0',
    info: { title: 'lab', version: '1' },
    paths: Object.fromEntries(served.map((type) => [pathOf(type), { patch: patch(type) }])),
  };
}
