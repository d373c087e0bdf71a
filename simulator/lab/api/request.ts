import type { IncomingMessage } from 'node:http';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { withoutNulls } from './json.ts';
import { type KubeObject, Metadata } from './objects.ts';
import { groupVersionOf, type ResourceType } from './resource-types.ts';
import { shaped } from './schema.ts';
import { badRequest, invalid, StatusError, unknownPath } from './status-error.ts';
import type { TypeTable } from './type-table.ts';

/** What a request is about. */
export interface Target {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export function targetOf(types: TypeTable, path: string): Target {
  const [root, ...rest] = path.split('/').filter(Boolean).map(decodeURIComponent);
  const group = root === 'apis' ? rest.shift() : '';
  const version = rest.shift();
  if ((root !== 'api' && root !== 'apis') || group === undefined || version === undefined)
    throw unknownPath();
  // /namespaces/x is the namespace itself, /namespaces/x/pods is what is in it.
  const inNamespace =
    rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '');
  const [namespace, [plural = '', name, subresource]] = inNamespace
    ? [rest[1], rest.slice(2)]
    : [undefined, rest];
  const type = types.at(group, version, plural);
  if (!type || (namespace !== undefined && !type.namespaced)) throw unknownPath();
  if (name !== undefined && type.namespaced && namespace === undefined) throw unknownPath();
  return { type, namespace, name, subresource };
}

const largestBody = 3 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > largestBody)
      throw new StatusError(
        413,
        'RequestEntityTooLarge',
        `Request entity too large: limit is ${largestBody}`,
        {},
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Only kubectl's `create KIND` sends it. */
const protobufHint =
  '; not protobuf: add --dry-run=client -o yaml to the kubectl command and pipe it into kubectl apply -f -';

export const unsupportedMediaType = (accepted: readonly string[], hint = '') =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}${hint}`,
    {},
  );

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  'application/json': JSON.parse,
  'application/yaml': parseYaml,
};

export const mediaTypeOf = (request: IncomingMessage) =>
  (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';

export function parseBody(text: string, mediaType: string): unknown {
  const parse = parsers[mediaType];
  if (mediaType === 'application/vnd.kubernetes.protobuf')
    throw unsupportedMediaType(Object.keys(parsers), protobufHint);
  if (!parse) throw unsupportedMediaType(Object.keys(parsers));
  try {
    return parse(text);
  } catch (error) {
    throw badRequest(`the body is not valid: ${error instanceof Error ? error.message : error}`);
  }
}

const Envelope = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: Metadata.optional(),
});

function checked(type: ResourceType, schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw badRequest(
    `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

/** A body as an object of the type the path names; its name and namespace come from the path where they must. */
export function objectFrom({ type, namespace, name }: Target, body: unknown): KubeObject {
  const given = checked(type, Envelope, withoutNulls(body)) as z.infer<typeof Envelope>;
  const apiVersion = groupVersionOf(type);
  if (given.apiVersion && given.apiVersion !== apiVersion)
    throw badRequest(
      `the API version in the data (${given.apiVersion}) does not match the expected API version (${apiVersion})`,
    );
  if (given.kind && given.kind !== type.kind)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type.kind}): found kind ${given.kind}`,
    );
  const metadata = given.metadata ?? {};
  if (metadata.namespace && metadata.namespace !== (namespace ?? ''))
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (name !== undefined && metadata.name && metadata.name !== name)
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  const object = {
    ...given,
    apiVersion,
    kind: type.kind,
    metadata: { ...metadata, namespace, ...(name === undefined ? {} : { name }) },
    ...(type.spec && given.spec !== undefined ? { spec: checked(type, type.spec, given.spec) } : {}),
    ...(type.statusShape && given.status !== undefined
      ? { status: checked(type, type.statusShape, given.status) }
      : {}),
  };
  // The store completes the metadata: whatever of it a client may leave out is not read before.
  const complete = byItsSchema(type, object as unknown as KubeObject);
  return type.alias ? type.alias.toStored(complete) : complete;
}

function byItsSchema(type: ResourceType, object: KubeObject): KubeObject {
  if (!type.custom?.schema) return object;
  const { object: result, causes } = shaped(type.custom.schema, object);
  if (causes.length) throw invalid(type, object.metadata.name ?? '', causes);
  return result;
}
