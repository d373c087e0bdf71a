import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import type { ApiRow } from '../../shared/view/row.ts';

/** The description of the API, made from its table. */
export function describeApi(rows: readonly ApiRow[]): object {
  return {
    openapi: '3.1.0',
    info: { title: 'bamel-autoscaler', version: packageJson.version },
    paths: Object.fromEntries(rows.map((row) => [row.path, { get: described(row) }])),
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
  };
}

function described({ path, summary, shape, list, query = {} }: ApiRow): object {
  const item = z.toJSONSchema(shape, { io: 'output' });
  const parameters = [
    ...(path.includes('{name}')
      ? [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }]
      : []),
    ...Object.entries(query).map(([name, description]) => ({
      name,
      in: 'query',
      schema: { type: 'string' },
      description,
    })),
    ...(list
      ? [
          {
            name: 'limit',
            in: 'query',
            schema: { type: 'integer', default: 1000 },
            description: 'at most so many',
          },
          {
            name: 'after',
            in: 'query',
            schema: { type: 'integer' },
            description: 'the `next` of the page before',
          },
        ]
      : []),
  ];
  const schema = list
    ? {
        type: 'object',
        properties: {
          items: { type: 'array', items: item },
          total: { type: 'integer' },
          next: { type: 'integer', description: 'where the next page begins; absent on the last one' },
          revision: { type: 'integer', description: 'of the store' },
        },
        required: ['items', 'total', 'revision'],
      }
    : item;
  return {
    summary,
    parameters,
    responses: {
      '200': { description: 'as asked', content: { 'application/json': { schema } } },
      '304': { description: 'not changed since the ETag sent as If-None-Match' },
      '401': { description: 'no token, or a wrong one' },
      ...(path.includes('{name}') ? { '404': { description: 'there is none of that name' } } : {}),
    },
  };
}
