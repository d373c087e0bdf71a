import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../binaries.ts';
import { launch, makeWorkspace, untilReady } from '../process.ts';
import { answersIpmi, freeUdpPort } from '../udp.ts';

/** The go-ipmi project's BMC: cipher suites 17 and 3, four sessions, privileges enforced. */
export interface GoIpmi {
  readonly port: number;
  close(): Promise<void>;
}

export interface GoIpmiOptions {
  readonly users: readonly {
    readonly name: string;
    readonly password: string;
    /** 2 user, 3 operator, 4 administrator. */
    readonly privilege: number;
  }[];
  /** 16 bytes in hex. */
  readonly guid: string;
  readonly suites?: readonly number[];
  readonly kg?: string;
}

export async function startGoIpmi({
  users,
  guid,
  suites = [3, 17],
  kg = '',
}: GoIpmiOptions): Promise<GoIpmi> {
  const { 'go-ipmi-bmc': path } = await ensureBinaries(['go-ipmi-bmc']);
  const port = await freeUdpPort();
  const workspace = makeWorkspace('go-ipmi');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => workspace.remove());
  const config = join(workspace.folder, 'config.json');
  writeFileSync(config, JSON.stringify({ port, guid, kg, suites, users }));
  const ready = () => answersIpmi(port);
  const program = launch({ name: 'go-ipmi-bmc', path, args: [config], logs: workspace.logs, ready });
  cleanup.defer(() => program.kill());
  await untilReady(program, ready);
  const running = cleanup.move();
  return {
    port,
    async close() {
      await running.disposeAsync();
      workspace.removeLogs();
    },
  };
}
