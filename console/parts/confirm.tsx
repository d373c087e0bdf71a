import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly says: string;
  /** What has to be typed. */
  readonly word: string;
  /** Something that may be asked for besides. */
  readonly option?: string | undefined;
  readonly onYes: (ticked: boolean) => void;
  readonly onNo: () => void;
}

/** Nobody types a machine's name by accident. */
export function Confirm({ title, says, word, option, onYes, onNo }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [ticked, setTicked] = useState(false);
  // With the click, not a moment after it: the next key, Escape too, is meant for the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed === word) onYes(ticked);
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={onNo}>
      <form onSubmit={submit}>
        <h2 id="confirm-title">{title}</h2>
        <p>{says}</p>
        <label>
          Type <b class="name">{word}</b> to go on:
          <input
            type="text"
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
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
            Leave it
          </button>
          <button type="submit" data-tone="bad" disabled={typed !== word}>
            Do it
          </button>
        </p>
      </form>
    </dialog>
  );
}
