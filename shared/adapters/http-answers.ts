export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Of the head of an answer, and of a line between parts of a body. */
const longestText = 65_536;

type Reading<Value> = Generator<undefined, Value, Buffer>;

/** Answers of HTTP/1.1. Is given what arrives, piece by piece, wherever it was cut. Throws when that is no HTTP. */
export function* readAnswers(onAnswer: (answer: WireAnswer) => void): Reading<never> {
  let rest: Buffer = Buffer.alloc(0);

  function* until(mark: string): Reading<string> {
    for (;;) {
      const at = rest.indexOf(mark);
      if (at > longestText || (at === -1 && rest.length > longestText))
        throw new Error('the answer is no HTTP: a line is too long');
      if (at !== -1) {
        const text = rest.toString('latin1', 0, at);
        rest = rest.subarray(at + mark.length);
        return text;
      }
      rest = Buffer.concat([rest, yield]);
    }
  }
  function* bytes(count: number): Reading<Buffer[]> {
    if (!Number.isSafeInteger(count) || count < 0)
      throw new Error('the answer is no HTTP: a length is no number');
    const parts: Buffer[] = [];
    let left = count;
    while (left > rest.length) {
      parts.push(rest);
      left -= rest.length;
      rest = yield;
    }
    parts.push(rest.subarray(0, left));
    rest = rest.subarray(left);
    return parts;
  }
  function* chunks(): Reading<Buffer[]> {
    const parts: Buffer[] = [];
    for (;;) {
      const size = Number(`0x${(yield* until('\r\n')).split(';', 1)[0]?.trim()}`);
      parts.push(...(yield* bytes(size)));
      // Trailers, if any, are read by nobody.
      if (size === 0) {
        while ((yield* until('\r\n')) !== '');
        return parts;
      }
      if ((yield* until('\r\n')) !== '')
        throw new Error('the answer is no HTTP: a part is longer than it says');
    }
  }

  for (;;) {
    const { status, headers } = parseHead(yield* until('\r\n\r\n'));
    // 100 Continue and the like: the answer is still to come.
    if (status < 200) continue;
    const { 'transfer-encoding': encoding, 'content-length': length } = headers;
    const isEmpty = status === 204 || status === 304;
    if (!isEmpty && encoding !== 'chunked' && length === undefined)
      throw new Error('the answer does not say how long it is');
    const parts = isEmpty ? [] : yield* encoding === 'chunked' ? chunks() : bytes(Number(length));
    onAnswer({ status, headers, text: Buffer.concat(parts).toString() });
  }
}

function parseHead(text: string): Pick<WireAnswer, 'status' | 'headers'> {
  const [first = '', ...lines] = text.split('\r\n');
  const [version = '', code = ''] = first.split(' ', 2);
  const status = Number(code);
  if (!version.startsWith('HTTP/1.') || !(status >= 100 && status <= 599))
    throw new Error('the answer is no HTTP');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status, headers };
}
