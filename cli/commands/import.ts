import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { checkConfig } from '../../shared/adapters/files/config-file.ts';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { machineProblem } from '../../shared/drivers/check-options.ts';
import type { ConfigInput } from '../../shared/schema/config.ts';
import { ConfigError } from '../../shared/schema/config-file.ts';
import { fromHomelabAutoscaler } from '../../shared/schema/homelab-autoscaler.ts';
import { machinesFromCsv } from '../../shared/schema/machine-csv.ts';
import { importInventory, readConfigInput } from '../../shared/state/inventory-exchange.ts';
import { type Command, storeUrl, UsageError } from '../command.ts';
import { formatOf } from '../exchange-format.ts';

/** As of a start with a file that has a mistake. */
const mistake = 2;

export const importCommand: Command = {
  summary: 'take pools and machines from another tool into the store; removes nothing',
  usage: `FILE [--format json|csv] [--store URL]
  --format json|csv  default: what the name of the file ends in
  --store URL        default: $BAMEL_STORE
bamel import homelab-autoscaler -f FILE [--cpu CORES] [--memory QUANTITY] [--store URL]
  -f, --file FILE    Groups and Nodes of infra.homecluster.dev, as kubectl get -o yaml writes them
  --cpu, --memory    what every machine has, which they do not say; default 1 and 1Gi: correct it afterwards`,
  async run(args, io) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        format: { type: 'string' },
        store: { type: 'string' },
        file: { type: 'string', short: 'f' },
        cpu: { type: 'string', default: '1' },
        memory: { type: 'string', default: '1Gi' },
      },
    });
    const isHomelab = positionals[0] === 'homelab-autoscaler' && values.file !== undefined;
    const [file, ...others] = isHomelab ? [values.file, ...positionals.slice(1)] : positionals;
    if (file === undefined || others.length > 0) throw new UsageError('which file? Give one');
    const format = isHomelab ? 'homelab' : formatOf(values.format ?? file.split('.').at(-1) ?? '');
    const url = storeUrl(values.store, io);
    const text = await readFile(file, 'utf8');
    const store = await openStore(url);
    try {
      const there = (await readConfigInput(store)).pools;
      const pools = there.map(({ name }) => name);
      const given: ConfigInput = {
        homelab: () => fromHomelabAutoscaler(text, { cpu: Number(values.cpu), memory: values.memory }, file),
        csv: (): ConfigInput => ({ schemaVersion: 'v1alpha1', machines: machinesFromCsv(text, file, pools) }),
        json: () => JSON.parse(text) as ConfigInput,
      }[format]();
      await checkWhole(given, there, file);
      const { machines, changed, refused } = await importInventory(store, given);
      for (const problem of refused) io.stderr.write(`${problem}\n`);
      io.stderr.write(`imported ${machines - refused.length} machines, ${changed} changes\n`);
      return refused.length > 0 ? 1 : 0;
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof SyntaxError)) throw error;
      io.stderr.write(`${error instanceof SyntaxError ? `${file}: ${error.message}` : error.message}\n`);
      return mistake;
    } finally {
      await store.close();
    }
  },
};

/** Together with what is there already: a machine may belong to a pool that the store has. */
async function checkWhole(
  { pools = [], machines = [], ...rest }: ConfigInput,
  there: NonNullable<ConfigInput['pools']>,
  file: string,
): Promise<void> {
  const others = there.filter(({ name }) => !pools.some((pool) => pool.name === name));
  try {
    await checkConfig(
      JSON.stringify({ ...rest, pools: [...pools, ...others], machines }),
      file,
      machineProblem,
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Generated documents have no line numbers; the field name identifies the problem.
    throw new ConfigError(error.message.replaceAll(`${file}:1:`, `${file} at `).replace(/ at \d+ /g, ' '));
  }
}
