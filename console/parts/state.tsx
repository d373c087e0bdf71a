/** The colour comes from the style sheet, the word is always there as well. */
export function State({ state }: { readonly state: string }) {
  return (
    <span class="state" data-state={state}>
      <span class="lamp" aria-hidden="true" />
      {state}
    </span>
  );
}
