import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startLab } from './lab.ts';
import { makeMachines } from './rack/description.ts';

const usage = `npm run lab -- [options]
  --machines N        machines in the rack (4)
  --on N              how many of them run at the start (1)
  --cpu N --memory Q  size of each (8, 32Gi)
  --boot-seconds N    from power on to Ready (90)
  --speed N           times faster than life (10)
  --port N            of the Kubernetes API (any free one)
  --control-port N    of the control endpoint (any free one)
  --kubeconfig FILE   join that cluster instead of an embedded one
  --registrar NAME    kubelet, or kwok where kwok runs
  --json              first line of output is JSON`;

const count = z.coerce.number().int().nonnegative();
const Flags = z.object({
  machines: count.default(4),
  on: count.default(1),
  cpu: z.coerce.number().positive().default(8),
  memory: z.string().default('32Gi'),
  'boot-seconds': z.coerce.number().nonnegative().default(90),
  speed: z.coerce.number().positive().default(10),
  port: count.default(0),
  'control-port': count.default(0),
  kubeconfig: z.string().optional(),
  registrar: z.enum(['kubelet', 'kwok']).default('kubelet'),
  json: z.boolean().default(false),
});

function readFlags(): z.infer<typeof Flags> {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  const text = { type: 'string' as const };
  const names = Object.keys(Flags.shape).filter((name) => name !== 'json');
  const options = {
    ...Object.fromEntries(names.map((name) => [name, text])),
    json: { type: 'boolean' as const },
  };
  try {
    return Flags.parse(parseArgs({ options }).values);
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    process.stderr.write(`${why}\n\n${usage}\n`);
    process.exit(2);
  }
}

const flags = readFlags();
const machines = makeMachines(flags.machines, {
  cpu: flags.cpu,
  memory: flags.memory,
  bootSeconds: flags['boot-seconds'],
}).map((machine, index) => ({ ...machine, on: index < flags.on }));

const lab = await startLab({
  machines,
  speed: flags.speed,
  port: flags.port,
  controlPort: flags['control-port'],
  registrar: flags.registrar,
  ...(flags.kubeconfig && { kubeconfig: await readFile(flags.kubeconfig, 'utf8') }),
  log: (message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
});
const folder = await mkdtemp(join(tmpdir(), 'bamel-lab-'));
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(kubeconfig, lab.kubeconfig, { mode: 0o600 });

const inventory = lab.inventory();
// The last one is off at the start, unless all are on.
const example = inventory.at(-1);
const login = example ? `${example.credentials.user}:${example.credentials.password}` : '';
process.stdout.write(
  flags.json
    ? `${JSON.stringify({ kubeconfig, control: lab.control, bmcs: inventory })}\n`
    : `Kubernetes API  ${lab.url}
kubeconfig      ${kubeconfig}
control         ${lab.control}/lab/machines
speed           ${flags.speed} times faster than life

${inventory.map(({ name, mgmtAddress }) => `${name.padEnd(16)}${mgmtAddress}  ${login}`).join('\n')}

Look around:
  kubectl --kubeconfig ${kubeconfig} get nodes
  curl -s ${lab.control}/lab/machines
Power a machine on through its BMC, then press its button:
  curl -s -u ${login} ${example?.mgmtAddress}/redfish/v1/Systems/1/Actions/ComputerSystem.Reset -d '{"ResetType":"On"}'
  curl -s ${lab.control}/lab/machines/${example?.name}/button --json '{"press":"off"}'
Break it and mend it (GET ${lab.control}/lab/faults lists what can go wrong):
  curl -s ${lab.control}/lab/machines/${example?.name}/faults --json '{"fault":"never-boots"}'
  curl -s -X DELETE ${lab.control}/lab/machines/${example?.name}/faults

Ctrl-C ends it.
`,
);

async function end(): Promise<void> {
  await lab.stop();
  await rm(folder, { recursive: true });
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());
