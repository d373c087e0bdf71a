import { parseArgs } from 'node:util';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { machinesToCsv } from '../../shared/schema/machine-csv.ts';
import { readConfigInput } from '../../shared/state/inventory-exchange.ts';
import { type Command, storeUrl } from '../command.ts';
import { formatOf } from '../exchange-format.ts';

export const exportCommand: Command = {
  summary: 'write the inventory for other tools, also while bamel runs',
  usage: `[--format json|csv] [--store URL]
  --format json|csv  json: settings, pools and machines, as the YAML file has them (default)
                     csv: the machines, a line each
  --store URL        default: $BAMEL_STORE`,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: { format: { type: 'string' }, store: { type: 'string' } },
    });
    const format = formatOf(values.format ?? 'json');
    const store = await openStore(storeUrl(values.store, io), { readOnly: true });
    try {
      const described = await readConfigInput(store);
      io.stdout.write(
        format === 'csv' ? machinesToCsv(described.machines) : `${JSON.stringify(described, null, 2)}\n`,
      );
    } finally {
      await store.close();
    }
    return 0;
  },
};
