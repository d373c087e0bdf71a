import { jsonOf } from './json.ts';
import type { KubeObject } from './objects.ts';
import type { ResourceType } from './resource-types.ts';
import { tableOf } from './table.ts';

/** How a client wants to see objects: as they are, their metadata only, or as kubectl's rows. */
export interface Representation {
  one(object: KubeObject): string;
  /** The pieces of a list's JSON, so that a long one need not be built as a whole. */
  list(objects: readonly KubeObject[], metadata: object): Iterable<string>;
}

const metadataOnly = ({ metadata }: KubeObject) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata,
});

function* texts(objects: readonly KubeObject[], text: (object: KubeObject) => string): Generator<string> {
  for (const object of objects) yield text(object);
}

function* listOf(
  kind: string,
  apiVersion: string,
  metadata: object,
  items: Iterable<string>,
): Generator<string> {
  yield `${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[`;
  let separator = '';
  for (const item of items) {
    yield separator + item;
    separator = ',';
  }
  yield ']}\n';
}

export function representationFor(
  type: ResourceType,
  accept: string | undefined,
  now: () => number,
): Representation {
  const face = (object: KubeObject) => type.alias?.fromStored(object) ?? object;
  for (const offer of (accept ?? '').split(',')) {
    if (offer.includes('as=Table'))
      return {
        one: (object) => JSON.stringify(tableOf(type, [object], {}, now())),
        list: (objects, metadata) => [JSON.stringify(tableOf(type, objects, metadata, now()))],
      };
    if (offer.includes('as=PartialObjectMetadata'))
      return {
        one: (object) => JSON.stringify(metadataOnly(object)),
        list: (objects, metadata) => {
          const items = texts(objects, (object) => JSON.stringify(metadataOnly(object)));
          return listOf('PartialObjectMetadataList', 'meta.k8s.io/v1', metadata, items);
        },
      };
    if (offer.trim().startsWith('application/json') || offer.includes('*/*')) break;
  }
  const groupVersion = type.group ? `${type.group}/${type.version}` : type.version;
  return {
    one: (object) => jsonOf(face(object)),
    list: (objects, metadata) =>
      listOf(
        `${type.kind}List`,
        groupVersion,
        metadata,
        texts(objects, (object) => jsonOf(face(object))),
      ),
  };
}
