import { signal } from '@preact/signals';
import { type Place, parseHash } from './place.ts';

export const place = signal<Place>(parseHash(location.hash));

export function followHash(): void {
  window.addEventListener('hashchange', () => {
    place.value = parseHash(location.hash);
    window.scrollTo(0, 0);
    // Whoever uses the keyboard, or hears the page, goes on where the new content begins.
    document.getElementById('content')?.focus({ preventScroll: true });
  });
}
