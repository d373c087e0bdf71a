import type { z } from 'zod';
import type { Use } from '../core/cluster/node-use.ts';
import type { Snapshot } from '../core/decide/snapshot.ts';
import type { May } from '../server/routes.ts';
import type { RemoteView } from './offers.ts';
import type { EnergyView, PressureView, TrendView } from './shapes.ts';
import type { Surroundings } from './surroundings.ts';
import type { View } from './view.ts';

export interface ApiDeps {
  readonly view: View;
  readonly surroundings: Surroundings;
  now(): number;
  energy(): Promise<EnergyView>;
  /** Throws HttpError for a range that is not kept. */
  trend(range: string): Promise<TrendView>;
  pressure(): Promise<readonly PressureView[]>;
  readonly remote: RemoteView;
  /** Throws ClusterError while the cluster is away. */
  snapshot(): Promise<Snapshot>;
}

interface Asked extends ApiDeps {
  readonly use: Use;
  readonly name: string;
  readonly query: URLSearchParams;
  /** What whoever asks may do. */
  readonly may: May;
}

/** One thing that can be asked for. `list` answers come in pages. */
export interface ApiRow {
  readonly path: string;
  readonly summary: string;
  readonly shape: z.ZodType;
  readonly list?: boolean;
  /** Query parameters beside those of pages, and what they mean. */
  readonly query?: Readonly<Record<string, string>>;
  /** Another one at every look, whatever the store says. */
  readonly volatile?: boolean;
  /** A name may have slashes in it. */
  readonly slashInName?: boolean;
  answer(asked: Asked): unknown | Promise<unknown>;
}
