/** The magic packet: six times FF, sixteen times the MAC address, and the SecureOn password where there is one. */
export function magicPacket(macAddress: string, secureOn: Buffer = Buffer.alloc(0)): Buffer {
  const mac = Buffer.from(macAddress.replaceAll(':', ''), 'hex');
  return Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => mac), secureOn]);
}

const pairs = /^[0-9a-f]{2}((:[0-9a-f]{2}){3}|(:[0-9a-f]{2}){5})$/i;
const dotted = /^(\d{1,3})(\.\d{1,3}){3}$/;

/** Six or four hex pairs with colons, or four numbers with dots. Undefined: it is none of these. */
export function parseSecureOn(text: string): Buffer | undefined {
  if (pairs.test(text)) return Buffer.from(text.replaceAll(':', ''), 'hex');
  const numbers = dotted.test(text) ? text.split('.').map(Number) : [];
  return numbers.length > 0 && numbers.every((number) => number < 256) ? Buffer.from(numbers) : undefined;
}
