/** Static text plus fields. */
export type Log = (message: string, fields: object) => void;
