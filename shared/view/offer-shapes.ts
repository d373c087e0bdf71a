import { z } from 'zod';

const time = z.number().describe('milliseconds since the epoch');

export const OfferShape = z.object({
  id: z.string().describe('the provider and the name of its offer'),
  provider: z.string().describe('the cluster id of who lends'),
  class: z.string(),
  region: z.string().optional(),
  resources: z
    .record(z.string(), z.number())
    .describe('cpu in millicores, memory in bytes, others as counts'),
  price: z.object({
    slice: z.number().optional(),
    cpu: z.number().optional(),
    memoryGiB: z.number().optional(),
    gpu: z.number().optional(),
  }),
  corePrice: z.number().describe('an hour of a core with what comes along, when all of it is taken'),
  labels: z.record(z.string(), z.string()),
  taints: z.array(z.object({ key: z.string(), value: z.string().optional(), effect: z.string() })),
  validUntil: time,
  endpoint: z.string(),
  latencyMs: z.number().optional().describe('how long its provider took to take a connection'),
  serial: z.number(),
  publicKey: z.string().describe('what it is signed with'),
  receivedAt: time,
  from: z.string().describe('the listing that it was read from, or that it was published to us'),
  usable: z.boolean(),
  why: z.string().optional().describe('why it is not usable'),
});
export type OfferView = z.infer<typeof OfferShape>;

export const PeeringShape = z.object({
  at: time.describe('the last time'),
  firstAt: time,
  times: z.number(),
  what: z.enum(['nonce', 'exchange', 'publish', 'offer']),
  who: z.string().describe('the cluster, as far as that is known'),
  from: z.string().describe('the address that asked, or the listing'),
  result: z.string().describe('accepted, or why not in a word'),
  why: z.string().optional(),
});
export type PeeringView = z.infer<typeof PeeringShape>;
