import { parseArgs } from 'node:util';
import { benchCluster } from './cluster.ts';
import { benchColdstart } from './coldstart.ts';
import { benchConsole } from './console.ts';
import { benchDecide, benchWorkloads } from './decide.ts';
import { benchEvents } from './events.ts';
import { benchExternalgrpc } from './externalgrpc.ts';
import { keepFigures, machineNow } from './figures.ts';
import { benchPacking } from './packing.ts';
import { benchReaction } from './reaction.ts';
import { benchRemote } from './remote.ts';
import { benchReplay } from './replay.ts';
import { benchSensor } from './sensor.ts';
import { benchStore } from './store.ts';
import { benchSweep } from './sweep.ts';
import { printTable, type Table } from './table.ts';
import { benchTakeover } from './takeover.ts';

/** To add a benchmark: a file and a row here. */
const benchmarks: Readonly<Record<string, (() => Promise<Table>) | readonly (() => Promise<Table>)[]>> = {
  cluster: benchCluster,
  coldstart: benchColdstart,
  console: benchConsole,
  decide: [benchDecide, benchWorkloads],
  events: benchEvents,
  externalgrpc: benchExternalgrpc,
  packing: benchPacking,
  reaction: benchReaction,
  remote: benchRemote,
  replay: benchReplay,
  sensor: benchSensor,
  store: benchStore,
  sweep: benchSweep,
  takeover: benchTakeover,
};

const { values, positionals: names } = parseArgs({
  options: { figures: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = names.find((name) => !Object.hasOwn(benchmarks, name));
if (unknown !== undefined) {
  console.error(`there is no benchmark ${unknown}; there are: ${Object.keys(benchmarks).join(', ')}`);
  process.exitCode = 2;
} else {
  for (const [name, run] of Object.entries(benchmarks)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const about = { command: `npm run bench -- ${name}`, ...machineNow() };
    const tables: Table[] = [];
    for (const each of typeof run === 'function' ? [run] : run) {
      const table = await each();
      printTable(name, table);
      tables.push(table);
      // For docs/figures.md, which npm run generate writes.
      if (values.figures) keepFigures(name, { ...about, tables });
    }
  }
}
