import type { MachineSpec, PowerVerb } from '../../core/machine/machine.ts';
import { hostOf } from '../../http/address.ts';
import type { HttpRequest } from '../../http/peer.ts';
import type { Fail } from '../common/failure.ts';
import { type Call, Calls } from './call-schema.ts';
import type { HttpOptions } from './options.ts';
import { presets } from './presets.ts';
import { type Fields, fill, fillJson, inHeader, inPath } from './template.ts';

/** The calls as they will be made: everything filled in. */
interface Prepared {
  readonly request: HttpRequest;
  readonly pointers: readonly string[];
}

type Value = string | number | boolean;

export interface PreparedCalls {
  readonly verbs: Record<
    PowerVerb,
    (Prepared & { readonly values?: readonly Value[] | undefined }) | undefined
  >;
  readonly status?:
    | (Prepared & { readonly on: readonly Value[]; readonly off: readonly Value[] })
    | undefined;
}

/** Fills every call in at once, so that a mistake shows when the inventory is read, not at night. */
export function prepareCalls(
  spec: MachineSpec,
  options: HttpOptions,
  address: URL,
  fail: Fail,
): PreparedCalls {
  const preset = options.preset && presets[options.preset];
  const calls = { ...(preset && Calls.parse(preset.calls)), ...definedOnly(options) };
  const { name, pool, macAddress, rack, zone, systemUUID, providerID } = spec;
  const fields: Fields = {
    name,
    pool,
    macAddress,
    rack,
    zone,
    systemUUID,
    providerID,
    host: hostOf(address),
    channel: String(options.channel ?? preset?.firstChannel ?? 0),
    entity: options.entity,
  };
  const prepare = (call: Call, method: string): HttpRequest =>
    prepareCall(call, method, fields, address, fail);
  const pointersOf = (pointer: string | readonly string[] = []) =>
    [pointer]
      .flat()
      .map((text) => fill(text, fields, (value) => value.replaceAll('~', '~0').replaceAll('/', '~1'), fail));
  const command = (call: Calls['on']) =>
    call && {
      request: prepare(call, 'POST'),
      pointers: pointersOf(call.expect?.pointer),
      values: call.expect?.values,
    };
  const { on, softOff, off, status } = calls;
  return {
    verbs: { on: command(on), 'soft-off': command(softOff), 'hard-off': command(off) },
    status: status && {
      request: prepare(status, 'GET'),
      pointers: pointersOf(status.pointer),
      on: status.on,
      off: status.off,
    },
  };
}

function prepareCall(call: Call, method: string, fields: Fields, address: URL, fail: Fail): HttpRequest {
  const path = fill(call.path, fields, inPath(fail), fail);
  const url = URL.parse(path, address.href);
  if (url?.origin !== address.origin) throw fail('config', `${path} is not on ${address.origin}`);
  if (call.body !== undefined && call.form)
    throw fail('config', `${path}: give it a body or a form, not both`);
  const headers = Object.entries(call.headers ?? {}).map(([name, value]) => {
    if (/^(authorization|cookie|host|content-length|transfer-encoding|connection)$/i.test(name))
      throw fail('config', `the header ${name} is not for the inventory; credentials stand in a Secret`);
    return [name.toLowerCase(), inHeader(fail)(fill(value, fields, (text) => text, fail))] as const;
  });
  const form =
    call.form && new URLSearchParams(fillJson(call.form, fields, fail) as Record<string, string>).toString();
  const json = call.body === undefined ? undefined : JSON.stringify(fillJson(call.body, fields, fail));
  return {
    method: call.method ?? method,
    path: `${url.pathname}${url.search}`,
    headers: {
      accept: 'application/json',
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...Object.fromEntries(headers),
    },
    body: json ?? form,
  };
}

/** An option that is not given does not hide the preset's. */
const definedOnly = <Value extends object>(value: Value): Partial<Value> =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Partial<Value>;
