import { execFile } from 'node:child_process';
import type { PowerVerb } from '../../core/machine/machine.ts';
import { type PowerDriver, PowerError } from '../../ports/power.ts';
import { inTime } from '../common/evidence.ts';
import { systemUUID } from './guid.ts';
import type { Target } from './target.ts';

const verbs: Readonly<Record<PowerVerb, string>> = { on: 'on', 'soft-off': 'soft', 'hard-off': 'off' };

/** In ipmitool's words, with -v; without them it says one and the same of all. */
const meanings: readonly {
  readonly says: RegExp;
  readonly code: PowerError['code'];
  readonly means: string;
}[] = [
  { says: /RAKP 2 HMAC is invalid/, code: 'auth', means: 'refused the password, or does not know the user' },
  { says: /unauthorized name/, code: 'auth', means: 'does not know the user' },
  { says: /unauthorized role|insufficient privilege/i, code: 'auth', means: 'does not grant the privilege' },
  { says: /RAKP 4 message has invalid/, code: 'auth', means: 'has another kg' },
  { says: /insufficient resources for/, code: 'busy', means: 'has no free session' },
  { says: /Get Auth Capabilities error/, code: 'timeout', means: 'did not answer' },
];
const anotherSuiteMayDo =
  /open session response message : (invalid (authentication|integrity) algorithm|invalid role|no cipher suite match)/;

/** The same by running ipmitool: no shell, arguments checked, secrets by environment only. */
export function createIpmitool({ spec, address, options, resolve, secrets, fail }: Target): PowerDriver {
  const run = async (command: readonly string[], signal: AbortSignal): Promise<string> => {
    const { username, password, kg } = await inTime(secrets(), signal, fail);
    // Its environment variable takes text only, and its argument for the other form would be visible to all
    // users.
    if (kg?.startsWith('0x')) throw fail('config', 'ipmitool takes kg as text only. Set ipmi.tool to native');
    const host = await inTime(resolve(address.host), signal, fail);
    const env = { PATH: process.env.PATH, IPMITOOL_PASSWORD: password, ...(kg && { IPMI_KGKEY: kg }) };
    const base = ['-I', 'lanplus', '-v', '-E', ...(kg ? ['-K'] : [])];
    const where = ['-H', host, '-p', String(address.port), '-U', username];
    const patience = [
      '-N',
      String(Math.ceil(options.retransmitAfter / 1000)),
      '-R',
      String(options.retransmitTries),
    ];
    const how = ['-L', options.privilege.name.toUpperCase(), ...patience];
    for (const { id } of options.cipherSuites) {
      const args = [...base, ...where, ...how, '-C', String(id), ...command];
      const { output, log, error } = await execute(args, env, signal);
      if (error === undefined) return output;
      if (signal.aborted) throw fail('timeout', 'ipmitool did not end in time');
      if (error === 'ENOENT')
        throw fail('config', 'ipmitool is not installed. Install it, or set ipmi.tool to native');
      if (anotherSuiteMayDo.test(log)) continue;
      const known = meanings.find(({ says }) => says.test(log));
      if (known) throw fail(known.code, `its BMC ${known.means}, says ipmitool`);
      throw fail(
        'refused',
        `ipmitool failed (${error}) at: ${command.join(' ')}. ipmi.tool native reports more`,
      );
    }
    throw fail(
      'config',
      'its BMC has no cipher suite in common with us, says ipmitool. See ipmi.cipherSuites',
    );
  };

  /** Asked only where there is something to compare it with: it takes a session of its own. */
  const uuid = async (signal: AbortSignal): Promise<string | undefined> => {
    if (spec.systemUUID === undefined) return undefined;
    try {
      const [bytes] = /([0-9a-f]{2}\s+){16}/.exec(await run(['raw', '0x06', '0x37'], signal)) ?? [];
      return bytes && systemUUID(Buffer.from(bytes.replace(/\s+/g, ''), 'hex'), spec.systemUUID);
    } catch (error) {
      // Not every BMC reports it.
      if (error instanceof PowerError && error.code === 'refused') return undefined;
      throw error;
    }
  };

  return {
    capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: false },
    async read(signal) {
      const text = await run(['chassis', 'power', 'status'], signal);
      const [, power] = /Chassis Power is (on|off)\b/.exec(text) ?? [];
      return {
        power: power === 'on' || power === 'off' ? power : 'unknown',
        systemUUID: await uuid(signal),
      };
    },
    async set(verb, signal) {
      await run(['chassis', 'power', verbs[verb]], signal);
    },
    async bootFromNetwork(signal) {
      const mode = options.bootMode === 'uefi' ? ['options=efiboot'] : [];
      await run(['chassis', 'bootdev', 'pxe', ...mode], signal);
      const kept = await run(['chassis', 'bootparam', 'get', '5'], signal);
      if (!/Force PXE/.test(kept)) throw fail('refused', 'its BMC did not keep "boot from the network once"');
    },
  };
}

interface Executed {
  readonly output: string;
  readonly log: string;
  readonly error: string | undefined;
}

/** No error of execFile travels on: it carries the command line. */
function execute(args: readonly string[], env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Executed> {
  const { promise, resolve } = Promise.withResolvers<Executed>();
  execFile('ipmitool', args, { env, signal }, (error, output, log) =>
    resolve({ output, log, error: error ? String(error.code) : undefined }),
  );
  return promise;
}
