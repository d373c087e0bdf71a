import { useState } from 'preact/hooks';
import { giveToken, tokenWanted } from '../state/token.ts';

/** Asked for once per tab. */
export function TokenForm() {
  const [text, setText] = useState('');
  if (!tokenWanted.value) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim()) giveToken(text.trim());
  };
  return (
    <form class="token" onSubmit={submit}>
      <label>
        This host requires a token (the content of its BAMEL_TOKEN_FILE, or of BAMEL_READ_TOKEN_FILE for
        read-only access):
        <input
          type="password"
          autoComplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Use it in this tab</button>
    </form>
  );
}
