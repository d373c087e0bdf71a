const probe = (): HTMLElement => {
  const known = document.getElementById('colour-probe');
  if (known) return known;
  const made = document.createElement('span');
  made.id = 'colour-probe';
  made.hidden = true;
  document.body.append(made);
  return made;
};

/** What a custom property of the style sheet is now, as rgb(): a canvas knows neither var() nor light-dark(). */
export function colourOf(property: string): string {
  const element = probe();
  element.style.color = `var(${property})`;
  return getComputedStyle(element).color;
}

export function onColoursChange(listener: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', listener);
  return () => dark.removeEventListener('change', listener);
}
