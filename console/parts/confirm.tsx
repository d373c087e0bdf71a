import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly says: string;
  /** What the button says that does it. */
  readonly verb: string;
  /** What has to be typed first; absent where a click is enough. */
  readonly word?: string | undefined;
  /** What may be ticked as well. */
  readonly option?: string | undefined;
  readonly onYes: (ticked: boolean) => void;
  readonly onNo: () => void;
}

/** Asks once more; a name is not typed by accident. */
export function Confirm({ title, says, verb, word, option, onYes, onNo }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [ticked, setTicked] = useState(false);
  // With the click, not a moment after it: the next key, Escape too, is meant for the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const isConfirmed = word === undefined || typed === word;
  const submit = (event: Event) => {
    event.preventDefault();
    if (isConfirmed) onYes(ticked);
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={onNo}>
      <form onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        <p>{says}</p>
        {word !== undefined && (
          <label>
            Type <b class="name">{word}</b> to confirm:
            <input
              type="text"
              autoComplete="off"
              autoCapitalize="off"
              spellcheck={false}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </label>
        )}
        {option && (
          <label class="tick">
            <input
              type="checkbox"
              checked={ticked}
              onChange={(event) => setTicked(event.currentTarget.checked)}
            />
            {option}
          </label>
        )}
        <p class="choices">
          <button type="button" onClick={onNo}>
            Cancel
          </button>
          <button type="submit" data-tone={word === undefined ? undefined : 'bad'} disabled={!isConfirmed}>
            {verb}
          </button>
        </p>
      </form>
    </dialog>
  );
}
