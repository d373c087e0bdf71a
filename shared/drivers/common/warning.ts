import type { MachineSpec } from '../../core/machine/machine.ts';

/** Why somebody could read along or take the BMC's place, where the inventory allows that. */
export function insecurity({ mgmtAddress, bmcCredentials, options }: MachineSpec): string | undefined {
  const { tls } = options ?? {};
  if (typeof tls === 'object' && tls && 'insecure' in tls && tls.insecure)
    return 'its certificate is not checked (tls.insecure): set tls.fingerprint instead';
  const url = URL.parse(mgmtAddress ?? '');
  if (url?.protocol !== 'http:' || bmcCredentials === undefined) return undefined;
  if (isLoopback(url)) return undefined;
  return 'its password is sent in the clear (http://): use https:// in mgmtAddress';
}

export const isLoopback = ({ hostname }: URL): boolean => /^(127\.|localhost$|\[::1\]$)/.test(hostname);

/** Tells once of each machine, and again when the reason is another. */
export function insecurityWarning(tell: (machine: string, why: string) => void): (spec: MachineSpec) => void {
  const told = new Map<string, string>();
  return (spec) => {
    const why = insecurity(spec);
    if (why === undefined) told.delete(spec.name);
    else if (told.get(spec.name) !== why) {
      told.set(spec.name, why);
      tell(spec.name, why);
    }
  };
}
