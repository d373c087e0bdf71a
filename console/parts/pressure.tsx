import { useApi } from '../state/resource.ts';
import type { Pressures } from '../types.ts';

/** What a node is short of; nothing where no sensor tells. */
export function Pressure({ node }: { readonly node: string }) {
  const { data } = useApi<Pressures>('/api/pressure');
  const felt = (data.value?.items ?? []).filter((reading) => reading.node === node);
  if (felt.length === 0) return null;
  return (
    <p class="note">
      Pressure on its node:{' '}
      {felt
        .map(({ category, level, sign }) => `${category} ${Math.round(level * 100)} %, ${sign}`)
        .join('; ')}
      .
    </p>
  );
}
