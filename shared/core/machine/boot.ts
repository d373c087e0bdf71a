import type { MachineSpec } from './machine.ts';

/** What a boot script may name, as {{name}}. Nothing secret, nothing that is not the inventory's. */
const fields = ['name', 'pool', 'macAddress', 'systemUUID', 'providerID', 'rack', 'zone'] as const;

const placeholder = /\{\{([^{}]*)\}\}/g;

/** Neither blanks nor line ends, nor anything that iPXE or a kernel's command line reads as more than a word. */
const word = /^[A-Za-z0-9._:/@-]+$/;

const isField = (name: string): name is (typeof fields)[number] =>
  (fields as readonly string[]).includes(name);

/** What is wrong with a script, or nothing. */
export function scriptProblem(script: string): string | undefined {
  for (const [whole, inner = ''] of script.matchAll(placeholder))
    if (!isField(inner.trim()))
      return `${whole} is not known: there are ${fields.map((field) => `{{${field}}}`).join(', ')}`;
  return undefined;
}

export type Rendered =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

/** The script of a machine. A value that is missing, or that is more than a word, is refused. */
export function renderScript(script: string, spec: MachineSpec): Rendered {
  let why = scriptProblem(script);
  const text = script.replace(placeholder, (_whole, inner: string) => {
    const field = inner.trim();
    const value = isField(field) ? spec[field] : undefined;
    if (value === undefined) why ??= `${spec.name} has no ${field}, which its boot profile asks for`;
    else if (!word.test(value))
      why ??= `${field} of ${spec.name} has characters that a boot script may not have: ${JSON.stringify(value)}`;
    return value ?? '';
  });
  return why === undefined ? { ok: true, text } : { ok: false, why };
}

/** 52-54-00-12-34-56, 525400123456 and 52:54:00:12:34:56 are the same; undefined: it is none. */
export function normalMac(text: string): string | undefined {
  const digits = text.toLowerCase().replace(/[:-]/g, '');
  if (!/^[0-9a-f]{12}$/.test(digits)) return undefined;
  return digits.match(/../g)?.join(':');
}

/** What may fill a boot script, spec by spec, is checked before the machine is needed. */
export function bootProblem(
  spec: Pick<MachineSpec, 'name' | 'bootProfile' | 'powerInterface'>,
  canBootFromNetwork: boolean,
): string | undefined {
  if (spec.bootProfile === undefined || canBootFromNetwork) return undefined;
  return `${spec.name}: bootProfile ${spec.bootProfile} needs a machine that can be told to boot from the network, and ${spec.powerInterface} cannot do that: leave bootProfile out, or use another powerInterface`;
}
