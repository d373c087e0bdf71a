/** Static text plus fields. */
export type Log = (message: string, fields: Record<string, unknown>) => void;
