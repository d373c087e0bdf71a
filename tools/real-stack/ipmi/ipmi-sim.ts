import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../support/programs.ts';
import { launch, makeWorkspace, untilReady } from '../process.ts';
import { answersIpmi, freeUdpPort } from '../udp.ts';

/** OpenIPMI's BMC (Debian package openipmi): cipher suite 3, up to 63 sessions, one thread. */
export interface IpmiSim {
  readonly port: number;
  /** What its chassis was told, in order: "power 1", "shutdown 1", "boot pxe" … */
  commands(): readonly string[];
  power(): 'on' | 'off';
  /** As by its button. */
  become(power: 'on' | 'off'): void;
  /** Stopped in its tracks: what it is sent waits for it. */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

export interface IpmiSimOptions {
  readonly credentials: { readonly username: string; readonly password: string };
  /** 16 bytes in hex. */
  readonly guid: string;
  readonly kg?: string;
}

/** Besides the given user, an administrator, there is `reader`, who may only read, with the same password. */
export async function startIpmiSim({ credentials, guid, kg }: IpmiSimOptions): Promise<IpmiSim> {
  const path = findProgram('ipmi_sim');
  if (!path) throw new Error('ipmi_sim is needed. Install it, e.g. apt-get install openipmi.');
  const port = await freeUdpPort();
  const workspace = makeWorkspace('ipmi-sim');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => workspace.remove());
  const at = (name: string) => join(workspace.folder, name);
  mkdirSync(at('state'));
  for (const [name, text] of Object.entries({ power: '0', boot: 'none', commands: '' }))
    writeFileSync(at(name), text);
  writeFileSync(at('chassis.sh'), chassis(workspace.folder));
  chmodSync(at('chassis.sh'), 0o755);
  writeFileSync(at('node1.emu'), emulator);
  writeFileSync(at('lan.conf'), lan({ credentials, guid, kg, port, chassis: at('chassis.sh') }));
  const ready = () => answersIpmi(port);
  const program = launch({
    name: 'ipmi_sim',
    path,
    args: ['-n', '-c', at('lan.conf'), '-f', at('node1.emu'), '-s', at('state')],
    logs: workspace.logs,
    ready,
  });
  cleanup.defer(() => program.kill());
  await untilReady(program, ready);
  const running = cleanup.move();
  return {
    port,
    commands: () => readFileSync(at('commands'), 'utf8').split('\n').filter(Boolean),
    power: () => (readFileSync(at('power'), 'utf8') === '1' ? 'on' : 'off'),
    become: (power) => writeFileSync(at('power'), power === 'on' ? '1' : '0'),
    freeze: () => program.stop(),
    thaw: () => program.cont(),
    async close() {
      await running.disposeAsync();
      workspace.removeLogs();
    },
  };
}

const emulator = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
`;

interface Lan extends Omit<IpmiSimOptions, 'kg'> {
  readonly kg: string | undefined;
  readonly port: number;
  readonly chassis: string;
}

const lan = ({ credentials, guid, kg, port, chassis: script }: Lan) => `name "node1"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 ${port}
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid ${guid}
${kg === undefined ? '' : `    bmc_key "${kg}"\n`}  endlan
  chassis_control "${script} node1"
  user 1 false "" "none" user 10 none md2 md5 straight
  user 2 true "${credentials.username}" "${credentials.password}" admin 10 none md2 md5 straight
  user 3 true "reader" "${credentials.password}" user 10 none md2 md5 straight
`;

/** What the emulator runs to read and change the machine: `DEVICE get NAME…` or `DEVICE set NAME VALUE…`. */
const chassis = (folder: string) => `#!/bin/sh
cd '${folder}'
shift
action=$1
shift
if [ "$action" = get ]; then
  for name; do [ -f "$name" ] && echo "$name:$(cat "$name")"; done
  exit 0
fi
while [ $# -gt 1 ]; do
  echo "$1 $2" >> commands
  case $1 in
    power | boot) printf %s "$2" > "$1" ;;
    shutdown) printf 0 > power ;;
  esac
  shift 2
done
`;
