import { join } from 'node:path';
import { ensureBinaries } from './binaries.ts';
import { freePorts } from './ports.ts';
import { launch, makeWorkspace, type Program, type ProgramOptions, untilReady } from './process.ts';

export type EtcdOptions = {
  readonly members?: 1 | 3;
  /** A small one fills up quickly: writes are then refused with NOSPACE. */
  readonly quotaBytes?: number;
  /** Where the data lives; given by a test that starts etcd on the data of an earlier one. */
  readonly dir?: string;
  readonly args?: readonly string[];
};

export type EtcdMember = Program & { readonly endpoint: string; readonly port: number };

export type Etcd = {
  /** Client URLs, one per member, e.g. `http://127.0.0.1:23790`. */
  readonly endpoints: readonly string[];
  readonly members: readonly EtcdMember[];
  readonly logs: string;
  /** The member that leads now, as one that answers sees it. */
  leader(): Promise<EtcdMember>;
  /** Makes every revision before now unreadable, as etcd does after a while. */
  compact(): Promise<void>;
  close(): Promise<void>;
};

type Answer = { readonly status: number; readonly body: Record<string, unknown> };

/** One call of etcd's JSON gateway; keys and values in it are base64. */
export async function etcdCall(endpoint: string, path: string, body: unknown = {}): Promise<Answer> {
  const response = await fetch(`${endpoint}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** One etcd member, or three that form a cluster, on 127.0.0.1, ready to use. */
export async function startEtcd(options: EtcdOptions = {}): Promise<Etcd> {
  const { etcd: path } = await ensureBinaries(['etcd']);
  const workspace = makeWorkspace('etcd');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => workspace.remove());
  const plans = await planMembers(options, path, options.dir ?? workspace.folder, workspace.logs);
  const members = plans.map(({ program, port, endpoint }): EtcdMember => {
    const member = Object.assign(launch(program), { port, endpoint });
    cleanup.defer(() => member.kill());
    return member;
  });
  await Promise.all(members.map((member) => untilReady(member, () => isHealthy(member.endpoint))));
  const running = cleanup.move();
  return {
    endpoints: members.map(({ endpoint }) => endpoint),
    members,
    logs: workspace.logs,
    leader: () => leaderOf(members),
    compact: () => compact(members),
    async close() {
      await running.disposeAsync();
      workspace.removeLogs();
    },
  };
}

type MemberPlan = { readonly program: ProgramOptions; readonly port: number; readonly endpoint: string };

async function planMembers(
  { members = 1, quotaBytes, args = [] }: EtcdOptions,
  path: string,
  folder: string,
  logs: string,
): Promise<MemberPlan[]> {
  const names = Array.from({ length: members }, (_, index) => `etcd-${index}`);
  const clientPorts = await freePorts(members);
  const peers = (await freePorts(members)).map((port) => `http://127.0.0.1:${port}`);
  return clientPorts.map((port, index) => {
    const name = names[index] as string;
    const peer = peers[index] as string;
    const endpoint = `http://127.0.0.1:${port}`;
    const flags = {
      name,
      'data-dir': join(folder, name),
      'listen-client-urls': endpoint,
      'advertise-client-urls': endpoint,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': names.map((other, at) => `${other}=${peers[at]}`).join(','),
      'log-level': 'warn',
      ...(quotaBytes && { 'quota-backend-bytes': quotaBytes }),
    };
    return {
      port,
      endpoint,
      program: {
        name,
        path,
        logs,
        // Surviving a power cut is not what is tested, and syncing makes every write wait for the disk.
        args: [
          ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
          '--unsafe-no-fsync',
          ...args,
        ],
        ready: () => isHealthy(endpoint),
      },
    };
  });
}

async function isHealthy(endpoint: string): Promise<true | undefined> {
  const response = await fetch(`${endpoint}/health`, { signal: AbortSignal.timeout(1000) });
  return response.ok || undefined;
}

async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember> {
  const states = await Promise.allSettled(
    members.map(({ endpoint }) => etcdCall(endpoint, 'maintenance/status')),
  );
  for (const [index, state] of states.entries()) {
    if (state.status === 'rejected') continue;
    const { header, leader } = state.value.body as { header: { member_id: string }; leader?: string };
    if (header.member_id === leader) return members[index] as EtcdMember;
  }
  throw new Error('etcd has no leader that answers');
}

async function compact(members: readonly EtcdMember[]): Promise<void> {
  const { endpoint } = await leaderOf(members);
  const { body } = await etcdCall(endpoint, 'kv/range', { key: base64('\0'), limit: 1 });
  const { revision } = (body as { header: { revision: string } }).header;
  const answer = await etcdCall(endpoint, 'kv/compaction', { revision, physical: true });
  if (answer.status !== 200) throw new Error(`etcd refused to compact: ${JSON.stringify(answer.body)}`);
}
