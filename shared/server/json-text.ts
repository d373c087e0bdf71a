import { HttpError } from './http-response.ts';

/** Parses untrusted JSON. The depth is checked before anything is built. */
export function parseJson(text: string, maxDepth: number): unknown {
  const tooDeepAt = depthExceededAt(text, maxDepth);
  if (tooDeepAt !== undefined)
    throw new HttpError(400, `JSON is nested deeper than ${maxDepth} levels`, { position: tooDeepAt });
  try {
    return JSON.parse(text);
  } catch {
    const position = malformedAt(text);
    const problem =
      position < text.length ? `unexpected ${JSON.stringify(text[position])}` : 'it ends too early';
    throw new HttpError(400, `malformed JSON at position ${position}: ${problem}`, { position });
  }
}

function depthExceededAt(text: string, maxDepth: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') inString = !inString;
    else if (inString) at += char === '\\' ? 1 : 0;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === '{' || char === '[') {
      depth += 1;
      if (depth > maxDepth) return at;
    }
  }
  return undefined;
}

const tokens = /([ \t\n\r]*)(?:("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null)|([{}[\],:]))?/sy;

/** The next state by token: a string, another scalar, or a sign. */
const grammar: Record<string, Record<string, string>> = {
  value: { string: 'after', scalar: 'after', '{': 'firstKey', '[': 'firstValue' },
  firstValue: { string: 'after', scalar: 'after', '{': 'firstKey', '[': 'firstValue', ']': 'after' },
  firstKey: { string: 'colon', '}': 'after' },
  key: { string: 'colon' },
  colon: { ':': 'value' },
  after: { ',': 'next', '}': 'after', ']': 'after' },
};

/** The position of the first invalid token; JSON.parse does not always report it. */
function malformedAt(text: string): number {
  const open: string[] = [];
  let expected = 'value';
  let at = 0;
  for (;;) {
    tokens.lastIndex = at;
    const [, space = '', string, scalar, sign = ''] = tokens.exec(text) ?? [];
    const start = at + space.length;
    const lexeme = string ?? scalar;
    const next = grammar[expected]?.[string ? 'string' : scalar ? 'scalar' : sign];
    const closes = sign === '}' || sign === ']';
    if (!next || (lexeme && !isJson(lexeme)) || (closes && open.pop() !== sign)) return start;
    if (expected === 'after' && sign === ',' && open.length === 0) return start;
    if (sign === '{' || sign === '[') open.push(sign === '{' ? '}' : ']');
    expected = next === 'next' ? (open.at(-1) === '}' ? 'key' : 'value') : next;
    at = tokens.lastIndex;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
