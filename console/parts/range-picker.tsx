import { range, ranges } from '../state/range.ts';

const titles = { '15m': '15 min', '1h': '1 h', '6h': '6 h', '24h': '24 h', '7d': '7 days', '30d': '30 days' };

export function RangePicker() {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend that takes a line
    <div class="ranges" role="group" aria-label="Span of the plots">
      {ranges.map((one) => (
        <button
          type="button"
          key={one}
          aria-pressed={range.value === one}
          onClick={() => {
            range.value = one;
          }}
        >
          {titles[one]}
        </button>
      ))}
    </div>
  );
}
