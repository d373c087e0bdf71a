export interface Place {
  readonly page: string;
  /** Of the machine or decision that the page is about. */
  readonly name: string;
}

const home = 'racks';

export function parseHash(hash: string): Place {
  const [page = '', ...rest] = hash.replace(/^#\/?/, '').split('/');
  return { page: page || home, name: decoded(rest.join('/')) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Typed by hand: shown as it is.
    return text;
  }
}

export const hashOf = (page: string, name?: string): string =>
  name === undefined ? `#/${page}` : `#/${page}/${encodeURIComponent(name)}`;
