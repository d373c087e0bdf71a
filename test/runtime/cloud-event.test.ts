import { toEvent } from '../../shared/server/cloud-event.ts';

const event = { specversion: '1.0' as const, id: 'e-1', source: '/here', type: 'com.example.thing' };

test.each([
  '/apis/v1/namespaces/bamel/pingsources/tick',
  'https://10.0.0.1:443',
  'urn:example:1',
  'bench',
  '/',
])('a source like %s is accepted', (source) => {
  expect(toEvent({ ...event, source })).toEqual({
    id: event.id,
    type: event.type,
    data: undefined,
    attributes: { ...event, source },
  });
});

test.each([
  ['a source with anything else in it', { source: '/with space' }],
  ['a source that only looks like a URL', { source: 'http://[host]/' }],
  ['a schema of its data', { dataschema: 'not a uri' }],
  ['an extension whose name has capitals', { myExtension: 'x' }],
  ['an extension that is a number', { sequence: 1.5 }],
])('%s is refused', (_, parts) => {
  expect(() => toEvent({ ...event, ...parts })).toThrow('CloudEvent not valid');
});
