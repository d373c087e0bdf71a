/** What makers do in their own way: a row each, chosen by the Manufacturer of the system. */
export interface Quirk {
  readonly manufacturer: RegExp;
  /** Refusals that mean "not now", by the end of their MessageId, and when to come back. */
  readonly notNow?: Readonly<Record<string, number>>;
  /** Sent with a boot override though it stays as it is: left out, they take a default or refuse. */
  readonly bootFields?: 'mode' | 'all';
  /** A PATCH without If-Match is refused; without an ETag to send, it is `*`. */
  readonly needsIfMatch?: boolean;
}

export const quirks: readonly Quirk[] = [
  {
    manufacturer: /^dell/i,
    notNow: {
      /** iDRAC has not started up. */
      SYS518: 10_000,
      /** No session is free. */
      RAC0218: 30_000,
      /** iDRAC 10: On, right after it went off. */
      ActionParameterValueConflict: 10_000,
    },
  },
  {
    manufacturer: /^(hpe?|hewlett)\b/i,
    notNow: { InvalidOperationForSystemState: 15_000, UnableToModifyDuringSystemPOST: 15_000 },
  },
  { manufacturer: /^super ?micro/i, bootFields: 'mode' },
  { manufacturer: /^(ami\b|american megatrends|asrock)/i, bootFields: 'all', needsIfMatch: true },
  { manufacturer: /^lenovo/i, needsIfMatch: true },
];

const plain: Quirk = { manufacturer: /^/ };

export const quirkOf = (manufacturer: string | null | undefined): Quirk =>
  quirks.find((quirk) => quirk.manufacturer.test(manufacturer?.trim() ?? '')) ?? plain;

/** How long to wait after this refusal, when waiting is what it asks for. */
export function notNowMs({ notNow = {} }: Quirk, messageIds: readonly string[]): number | undefined {
  const last = messageIds.map((id) => id.split('.').at(-1) ?? '');
  return Object.entries(notNow).find(([id]) => last.includes(id))?.[1];
}
