import { tokenWanted } from '../state/token.ts';

/** Why nothing can be pressed, and what to do about it. */
export const LookOnly = ({ id }: { readonly id: string }) => (
  <p id={id} class="quiet">
    The token of this tab is read-only.{' '}
    <button
      type="button"
      class="plain"
      onClick={() => {
        tokenWanted.value = true;
      }}
    >
      Use another one
    </button>
  </p>
);
