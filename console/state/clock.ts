import { signal } from '@preact/signals';

/** Now, by the host's clock: a phone whose clock is wrong shows the same ages. */
export const now = signal(Date.now());

let ahead = 0;
export function hostSays(time: number): void {
  ahead = time - Date.now();
}

export function startClock(): void {
  setInterval(() => {
    now.value = Date.now() + ahead;
  }, 1_000);
}
