// Runs the wol driver where the test wants it to run: in a network namespace. Prints what it reads.
import type { MachineSpec } from '../../shared/core/machine/machine.ts';
import { driverFor } from '../../shared/drivers/index.ts';
import { realClock } from '../../shared/process/clock.ts';

interface Wanted {
  readonly spec: MachineSpec;
  readonly secureOn?: string;
  readonly action: 'on' | 'read';
}

const { spec, secureOn, action } = JSON.parse(process.argv[2] ?? '') as Wanted;
const noJobs = () => Promise.reject(new Error('there are no Jobs here'));
const driver = await driverFor(spec, {
  credentials: async () => ({ secureOn: secureOn ?? '' }),
  resolve: async (host) => host,
  nodeOf: async () => undefined,
  jobs: { ensure: noJobs, read: noJobs, latest: noJobs },
  clock: realClock,
});
if (action === 'on') await driver.set('on', AbortSignal.timeout(10_000), 'op-1');
else console.log(JSON.stringify(await driver.read(AbortSignal.timeout(10_000))));
