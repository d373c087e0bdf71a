import { signal } from '@preact/signals';

const key = 'bamel-token';

/** Kept for this tab only: closing it forgets the token. */
export const token = signal(sessionStorage.getItem(key) ?? '');

/** The host refused what was sent: somebody has to type another one. */
export const tokenWanted = signal(false);

export function giveToken(text: string): void {
  sessionStorage.setItem(key, text);
  token.value = text;
  tokenWanted.value = false;
}
