interface Props {
  readonly title: string;
  readonly items: readonly string[];
  readonly tone?: 'bad';
}

/** A list of sentences under a heading; nothing when there are none. */
export function Facts({ title, items, tone }: Props) {
  if (items.length === 0) return null;
  return (
    <section class="card">
      <h2>{title}</h2>
      <ul class="facts" data-tone={tone}>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </section>
  );
}
