import { z } from 'zod';

/** Of machines and pools: both stand in names and labels of nodes, and in keys of the store. */
export const Name = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'lower-case letters, digits, - and . only, as nodes are named');
