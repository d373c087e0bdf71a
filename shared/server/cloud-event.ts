import { CloudEvent } from 'cloudevents';
import { z } from 'zod';
import { describeProblem, fieldProblems } from '../schema/zod-issue.ts';
import { HttpError } from './http-response.ts';

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  /** All it came with besides its data, extensions included. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

const attribute = z.string().min(1);
const envelope = z
  .object({
    specversion: z.literal('1.0'),
    id: attribute,
    source: attribute,
    type: attribute,
    subject: attribute.optional(),
    time: z.iso.datetime({ offset: true }).optional(),
    datacontenttype: attribute.optional(),
    dataschema: attribute.optional(),
    data: z.unknown().optional(),
    data_base64: z.base64().optional(),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean()]));

/** An event's attributes and data as one object, which is also what structured mode carries. */
export function toEvent(from: unknown): ReceivedEvent {
  const parsed = envelope.safeParse(withoutNulls(from));
  if (!parsed.success) {
    const [problem] = fieldProblems(envelope, parsed.error);
    throw new HttpError(400, `CloudEvent ${problem ? describeProblem(problem) : 'not valid'}`, {
      attribute: problem?.field,
    });
  }
  checkBySdk(parsed.data);
  // Binary data stays text, which no input of ours takes: better refused than overlooked.
  const { data_base64, data = data_base64, ...attributes } = parsed.data;
  const { id, type } = attributes;
  return { id, type, data, attributes };
}

/**
 * The rules of the CloudEvents package for URIs, names and extensions. Its parser is not used: that replaces a missing
 * id, a missing version and a wrong time with values of its own, and reads JSON of any depth.
 */
function checkBySdk(event: z.infer<typeof envelope>): void {
  try {
    new CloudEvent(event as Partial<CloudEvent<unknown>>);
  } catch (error) {
    throw new HttpError(400, `CloudEvent not valid: ${formatProblem(error)}`);
  }
}

/** In binary mode the attributes are headers and the body is the data. */
export function attributesFromHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, unknown> {
  const ours = Object.entries(headers).filter(([name, value]) => name.startsWith('ce-') && value !== '');
  return Object.fromEntries(ours.map(([name, value]) => [name.slice(3), value]));
}

/** `null` is how JSON says that an attribute is not set. */
function withoutNulls(from: unknown): unknown {
  if (typeof from !== 'object' || from === null || Array.isArray(from)) return from;
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== null));
}

function formatProblem(error: unknown): string {
  const { errors = [], message } = error as Error & {
    errors?: { instancePath?: string; message?: string }[];
  };
  const [first] = errors;
  if (first?.instancePath) return `${first.instancePath.slice(1)} ${first.message}`;
  return message.split('\n')[0] ?? '';
}
