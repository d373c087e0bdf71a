import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What network namespaces need; the second is no program, but is told like one when it is missing. */
export const netnsPrograms: readonly string[] =
  process.getuid?.() === 0 ? ['ip'] : ['ip', 'root, for network namespaces,'];

export interface TwoHosts {
  /** Both ends have this many: .1 and .2 of a /24. */
  readonly network: '10.77.0';
  /** Runs a program at one end and gives what it printed. */
  at(end: 1 | 2, program: string, args: readonly string[]): Promise<string>;
  /** What comes in at an end, from now on. */
  listen(end: 1 | 2): Promise<Sniffer>;
  /** Pulls the plug of an end, or puts it back. */
  link(end: 1 | 2, state: 'up' | 'down'): Promise<void>;
  interfaceAt(end: 1 | 2): string;
  close(): Promise<void>;
}

export interface Frame {
  /** As hex: what is in the UDP packet, or in the frame where it is none. */
  readonly payload: string;
  readonly kind: 'udp' | '0842';
  /** Where the frame went: ff:ff:ff:ff:ff:ff for a broadcast. */
  readonly destination: string;
  /** Address and port, of UDP. */
  readonly to?: string;
}

export interface Sniffer {
  readonly frames: readonly Frame[];
  close(): Promise<void>;
}

/** Two hosts on a cable of their own: a pair of network namespaces, gone when closed. */
export async function connectTwoHosts(): Promise<TwoHosts> {
  const id = `bamel${process.pid}`;
  const namespace = (end: 1 | 2) => `${id}-${end}`;
  const interfaceAt = (end: 1 | 2) => `v${process.pid}-${end}`;
  const ip = (...args: string[]) => run('ip', args);
  await using cleanup = new AsyncDisposableStack();
  for (const end of [1, 2] as const) {
    await ip('netns', 'add', namespace(end));
    cleanup.defer(async () => void (await ip('netns', 'delete', namespace(end))));
  }
  await ip('link', 'add', interfaceAt(1), 'type', 'veth', 'peer', 'name', interfaceAt(2));
  for (const end of [1, 2] as const) {
    await ip('link', 'set', interfaceAt(end), 'netns', namespace(end));
    const inside = ['-n', namespace(end)];
    await ip(...inside, 'address', 'add', `10.77.0.${end}/24`, 'brd', '+', 'dev', interfaceAt(end));
    await ip(...inside, 'link', 'set', interfaceAt(end), 'up');
    await ip(...inside, 'link', 'set', 'lo', 'up');
  }
  const owned = cleanup.move();
  return {
    network: '10.77.0',
    interfaceAt,
    async at(end, program, args) {
      const { stdout } = await run('ip', ['netns', 'exec', namespace(end), program, ...args], {
        timeout: 60_000,
        env: process.env,
      });
      return stdout;
    },
    link: async (end, state) => void (await ip('-n', namespace(end), 'link', 'set', interfaceAt(end), state)),
    listen: (end) => sniff(namespace(end), interfaceAt(end)),
    close: () => owned.disposeAsync(),
  };
}

/** Node.js opens no raw sockets, and what etherwake sends is no UDP. */
const sniffer = `
import json, select, socket, sys
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
raw.bind((sys.argv[1], 0))
print('{}', flush=True)
while True:
    if sys.stdin in select.select([raw, sys.stdin], [], [])[0]:
        break  # whoever started us is gone
    try:
        frame = raw.recv(2048)
    except OSError:
        continue  # the cable was pulled
    kind, seen = frame[12:14].hex(), {'destination': frame[:6].hex(':')}
    if kind == '0842':
        seen.update(kind=kind, payload=frame[14:].hex())
    elif kind == '0800' and frame[23] == 17:
        start = 14 + (frame[14] & 15) * 4
        port, length = (int.from_bytes(frame[start + at:start + at + 2], 'big') for at in (2, 4))
        seen.update(kind='udp', payload=frame[start + 8:start + length].hex(), to='%s:%d' % (socket.inet_ntoa(frame[30:34]), port))
    else:
        continue
    print(json.dumps(seen), flush=True)
`;

async function sniff(namespace: string, device: string): Promise<Sniffer> {
  const child = spawn('ip', ['netns', 'exec', namespace, 'python3', '-c', sniffer, device], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const frames: Frame[] = [];
  let text = '';
  const started = Promise.withResolvers<void>();
  child.on('exit', () => started.reject(new Error('the sniffer ended')));
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '{}') started.resolve();
      else frames.push(JSON.parse(line) as Frame);
    }
  });
  await started.promise;
  return {
    frames,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
