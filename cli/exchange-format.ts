import { UsageError } from './command.ts';

export type ExchangeFormat = 'json' | 'csv';

export function formatOf(text: string): ExchangeFormat {
  if (text === 'json' || text === 'csv') return text;
  throw new UsageError(`there is no format ${text}; there are json and csv`);
}
