import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openStore } from '../../shared/adapters/store/open-store.ts';
import { type Alert, alertName, type Steering, steeringOf } from '../../shared/core/decide/signals/alerts.ts';
import { realClock } from '../../shared/process/clock.ts';
import { Webhook } from '../../shared/schema/webhook.ts';
import { describeProblem, fieldProblems } from '../../shared/schema/zod-issue.ts';
import { createInventory } from '../../shared/state/inventory.ts';
import { type Command, storeUrl, UsageError } from '../command.ts';

export const testAlertCommand: Command = {
  summary: 'say which pools an alert would steer, and why; nothing is done',
  usage: `[-f FILE] [--label NAME=VALUE ...]
      -f, --file FILE     what Alertmanager's webhook sends, as JSON
      --label NAME=VALUE  a label that every alert has as well; without FILE, of one that fires
      --store URL         default: $BAMEL_STORE`,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        file: { type: 'string', short: 'f' },
        label: { type: 'string', multiple: true, default: [] },
        store: { type: 'string' },
      },
    });
    if (!values.file && values.label.length === 0)
      throw new UsageError('which alert? Give -f FILE, or its labels with --label NAME=VALUE');
    const labels = Object.fromEntries(values.label.map(labelOf));
    const alerts = values.file ? await readAlerts(values.file) : [made];
    const store = await openStore(storeUrl(values.store, io), { readOnly: true });
    try {
      const inventory = createInventory(store, realClock);
      const [pools, machines] = await Promise.all([inventory.pools(), inventory.machines()]);
      for (const alert of alerts.map((one) => ({ ...one, labels: { ...one.labels, ...labels } })))
        io.stdout.write(`${describe(alert, steeringOf(alert, pools, machines))}\n`);
      return 0;
    } finally {
      await store.close();
    }
  },
};

/** An alert to test labels with. */
const made: Alert = { status: 'firing', labels: {}, fingerprint: '0', startsAt: '' };

function labelOf(text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UsageError(`--label ${text}: write NAME=VALUE`);
  return [text.slice(0, equals), text.slice(equals + 1)];
}

async function readAlerts(file: string): Promise<readonly Alert[]> {
  const text = await readFile(file, 'utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
  const parsed = Webhook.safeParse(body);
  if (parsed.success) return parsed.data.alerts;
  const problems = fieldProblems(Webhook, parsed.error).map(describeProblem).join('; ');
  throw new UsageError(`${file} is not what Alertmanager's webhook sends: ${problems}`);
}

function describe(alert: Alert, { pool, why }: Steering): string {
  const steers = pool === undefined ? 'steers no pool' : `steers pool ${pool}`;
  return [
    `alert ${alertName(alert)} (${alert.status}) ${steers}: ${why}.`,
    `  ${effectOf(alert, pool)}`,
  ].join('\n');
}

function effectOf({ status }: Alert, pool: string | undefined): string {
  if (status === 'resolved')
    return pool === undefined
      ? 'It is over: it does nothing.'
      : `It is over: pool ${pool} gets no more machines for it, and keeps those it has for unneededFor.`;
  return pool === undefined
    ? 'An evaluation begins at once, and decides as it would at the next tick.'
    : `An evaluation begins at once: one more machine of pool ${pool} is powered on if there is one, and none leaves while it fires.`;
}
