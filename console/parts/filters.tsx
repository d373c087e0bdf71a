import type { ComponentChildren } from 'preact';

interface Choice {
  readonly name: string;
  readonly count?: number;
  readonly state?: string;
}

interface Props {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly choices: readonly Choice[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
  readonly children?: ComponentChildren;
}

/** A search field, and what a list can be narrowed to. */
export function Filters({ label, text, onText, choices, chosen, onChoose, children }: Props) {
  return (
    <search class="filters">
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {choices.map(({ name, count, state }) => (
        <button
          type="button"
          key={name}
          class="chip"
          data-state={state}
          aria-pressed={chosen === name}
          onClick={() => onChoose(chosen === name ? '' : name)}
        >
          {state && <span class="lamp" aria-hidden="true" />}
          {name} {count !== undefined && <b>{count}</b>}
        </button>
      ))}
      {children}
    </search>
  );
}

/** Whether all words of the text occur. */
export function hasWords(text: string, ...parts: readonly (string | undefined)[]): boolean {
  const all = parts.join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
