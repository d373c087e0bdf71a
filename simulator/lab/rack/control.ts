import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { Bmc } from './bmc.ts';
import { FaultRequest } from './fault-set.ts';
import { faults } from './faults.ts';
import type { SimulatedMachine } from './machine.ts';
import type { Rack } from './rack.ts';

const Button = z.strictObject({ press: z.enum(['on', 'off']) });
const FaultQuery = FaultRequest.shape.fault.optional();
const bodyLimit = 64 * 1024;

interface Reply {
  status: number;
  body: unknown;
}
const ok = (body: unknown): Reply => ({ status: 200, body });
const wrong = (status: number, error: string): Reply => ({ status, body: { error } });

const machineView = ({ machine, bmc }: { machine: SimulatedMachine; bmc: Bmc }) => ({
  name: machine.name,
  bmc: bmc.url,
  power: machine.powerState,
  phase: machine.phase,
  since: new Date(machine.phaseSince).toISOString(),
  watts: machine.watts(),
  bootId: machine.bootId,
  bootedFrom: machine.bootedFrom,
  faults: machine.faults.list(),
  commands: machine.commands,
});

/** What another process may ask of the lab: look at machines, break them, mend them, press their buttons. */
export async function startControl(rack: Rack, port = 0): Promise<{ url: string; close(): Promise<void> }> {
  const server = http.createServer((request, response) => {
    const send = ({ status, body }: Reply) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    };
    answer(rack, request).then(send, (error: unknown) => send(wrong(400, messageOf(error))));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const messageOf = (error: unknown) => (error instanceof z.ZodError ? z.prettifyError(error) : String(error));

async function answer(rack: Rack, request: IncomingMessage): Promise<Reply> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://lab');
  const [, lab, things, name, action, ...more] = pathname.split('/');
  if (lab !== 'lab' || more.length > 0) return wrong(404, 'try GET /lab/machines or GET /lab/faults');
  if (things === 'faults' && !name) {
    return ok(
      Object.entries(faults).map(([fault, { says, options }]) => ({
        fault,
        says,
        options: Object.keys(options.shape),
      })),
    );
  }
  if (things !== 'machines') return wrong(404, 'try GET /lab/machines or GET /lab/faults');
  if (!name) return ok([...rack.machines.values()].map(machineView));
  const found = rack.machines.get(name);
  if (!found) return wrong(404, `no machine is called ${name}; GET /lab/machines lists them`);
  const { machine } = found;
  switch (`${request.method} ${action ?? ''}`) {
    case 'GET ':
      return ok(machineView(found));
    case 'POST faults':
      machine.faults.set(await json(request));
      return ok(machine.faults.list());
    case 'DELETE faults':
      machine.faults.clear(FaultQuery.parse(searchParams.get('fault') ?? undefined));
      return ok(machine.faults.list());
    case 'POST button':
      machine.pressButton(Button.parse(await json(request)).press);
      return ok(machineView(found));
    default:
      return wrong(405, 'a machine takes GET, POST faults, DELETE faults[?fault=NAME] and POST button');
  }
}

/** Only application/json, so that a web page somewhere cannot post here without asking. */
async function json(request: IncomingMessage): Promise<unknown> {
  if (!request.headers['content-type']?.startsWith('application/json')) {
    throw new Error('send Content-Type: application/json');
  }
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > bodyLimit) throw new Error('the body is too long');
  }
  return JSON.parse(text);
}
