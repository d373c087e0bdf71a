interface Props {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly text: string;
}

/** A bar with its figure beside it. */
export function Meter({ label, value, max, text }: Props) {
  const share = max > 0 ? Math.min(1, value / max) : 0;
  return (
    <div class="meter">
      <span>{label}</span>
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </span>
      <span class="figure">{text}</span>
    </div>
  );
}
