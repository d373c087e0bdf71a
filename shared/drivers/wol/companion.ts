import { z } from 'zod';
import type { MachineSpec } from '../../core/machine/machine.ts';
import type { DriverDeps } from '../../ports/power.ts';
import type { CompanionDriver } from '../common/companion.ts';
import { createHttp, HttpOptions } from '../http/driver.ts';
import { createJob, JobOptions } from '../job/driver.ts';
import { createPdu, PduOptions } from '../snmp-pdu/driver.ts';

/** How a machine that is woken by a packet is powered off: by one other driver, with that driver's own options. */
export const Companion = z
  .strictObject({
    http: HttpOptions.optional().describe('by an HTTP call; see the driver http'),
    'snmp-pdu': PduOptions.optional().describe('by an outlet of a PDU; see the driver snmp-pdu'),
    job: JobOptions.optional().describe('by a Kubernetes Job; see the driver job'),
  })
  .refine((given) => Object.values(given).filter((options) => options !== undefined).length === 1, {
    error: 'name one of http, snmp-pdu and job',
  })
  .describe('how it is powered off: http, snmp-pdu or job with its options');

/** The packet's credentials are not the companion's: it names its own. */
export function createCompanion(
  spec: MachineSpec,
  { http, job, 'snmp-pdu': pdu }: z.output<typeof Companion>,
  deps: DriverDeps,
): CompanionDriver | undefined {
  const own: MachineSpec = { ...spec, bmcCredentials: undefined };
  if (http) return createHttp(own, http, deps, 'wol.off.http');
  if (pdu) return createPdu(own, pdu, deps, 'wol.off.snmp-pdu');
  if (job) return createJob(own, job, deps, 'wol.off.job');
  return undefined;
}
