import { z } from 'zod';

const OnePointer = z.string().regex(/^(\/([^~]|~[01])*)?$/, 'a JSON pointer, such as /relays/0/ison');
const Pointer = z
  .union([OnePointer, z.array(OnePointer).min(1)])
  .describe(
    'where in the JSON answer: a JSON pointer (empty: all of it), or several, of which the first that is there counts',
  );
const Value = z.union([z.string(), z.number(), z.boolean()]);

const call = {
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH']).optional().describe('POST; GET for status'),
  path: z
    .string()
    // A field without blanks counts as ordinary characters, so that no text matches in two ways: backtracking is linear.
    .regex(
      /^\/((\{\{( +\w+ *|\w+ +)\}\}|[^\s\\#/])(\{\{( +\w+ *|\w+ +)\}\}|[^\s\\#])*)?$/,
      'a path on its address, beginning with one /',
    )
    .describe('path and query; {{name}}, {{macAddress}} … are filled in from the inventory'),
  headers: z
    .record(z.string().regex(/^[\w-]+$/), z.string())
    .optional()
    .describe('sent along'),
  body: z.record(z.string(), z.unknown()).optional().describe('sent as JSON'),
  form: z.record(z.string(), z.string()).optional().describe('sent as a form instead of body'),
};

const Command = z.strictObject({
  ...call,
  expect: z
    .strictObject({ pointer: Pointer, values: z.array(Value).min(1).describe('what may stand there') })
    .optional()
    .describe('what the answer must hold besides a status of 2xx: one of values there'),
});

const Status = z.strictObject({
  ...call,
  pointer: Pointer.default(''),
  on: z.array(Value).min(1).describe('values that mean on'),
  off: z.array(Value).min(1).describe('values that mean off; any other is unknown'),
});

/** The calls of a device, by what they are for. */
export const Calls = z.strictObject({
  on: Command.optional().describe('powers it on; a call that sets, never one that toggles'),
  softOff: Command.optional().describe('asks the machine to shut down'),
  off: Command.optional().describe('cuts the power'),
  status: Status.optional().describe(
    'the call that reads the power; without it, power is inferred from the node',
  ),
});

export type Calls = z.output<typeof Calls>;
export type Call = NonNullable<Calls['on']> | NonNullable<Calls['status']>;
