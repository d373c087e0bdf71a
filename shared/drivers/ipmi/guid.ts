/**
 * A system GUID as text. BMCs do not agree on the order of its bytes, and what the operating system shows is
 * one of these: as SMBIOS has it (the first three fields turned around), all of it turned around, as it is.
 */
export function systemUUID(guid: Buffer, expected: string | undefined): string | undefined {
  if (guid.length !== 16 || guid.every((byte) => byte === 0) || guid.every((byte) => byte === 0xff))
    return undefined;
  const orders = [[3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15], [...turned], [...turned].reverse()];
  const texts = orders.map((order) => format(order.map((index) => guid.readUInt8(index))));
  return (
    texts.find((text) => text === expected?.toLowerCase()) ??
    texts.find((text) => wellFormed.test(text)) ??
    texts[0]
  );
}

const turned = Array.from({ length: 16 }, (_, index) => 15 - index);

/** Version 1 to 8 of RFC 9562 in its place, and the variant in its. */
const wellFormed = /^.{14}[1-8].{4}[89ab]/;

function format(bytes: readonly number[]): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
