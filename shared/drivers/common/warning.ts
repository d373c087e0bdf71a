import type { MachineSpec } from '../../core/machine/machine.ts';

/** Why the connection could be intercepted, where the inventory allows that. */
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
export function insecurityWarning(
  report: (machine: string, why: string) => void,
): (spec: MachineSpec) => void {
  const reported = new Map<string, string>();
  return (spec) => {
    const why = insecurity(spec);
    if (why === undefined) reported.delete(spec.name);
    else if (reported.get(spec.name) !== why) {
      reported.set(spec.name, why);
      report(spec.name, why);
    }
  };
}
