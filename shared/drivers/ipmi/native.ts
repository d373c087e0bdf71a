import type { Power, PowerVerb } from '../../core/machine/machine.ts';
import { type PowerDriver, PowerError } from '../../ports/power.ts';
import { inTime } from '../common/evidence.ts';
import { createCommands } from './commands.ts';
import { converse } from './conversation.ts';
import { systemUUID } from './guid.ts';
import { loginOf } from './login.ts';
import { readSel } from './sel.ts';
import type { Talk } from './talk.ts';
import type { Target } from './target.ts';
import { openTransport } from './transport.ts';

const goals: Readonly<Record<PowerVerb, Power>> = { on: 'on', 'soft-off': 'off', 'hard-off': 'off' };

type Commands = ReturnType<typeof createCommands>;

/** RMCP+ spoken by ourselves: one session a call, closed at its end. */
export function createNative({ spec, address, options, resolve, secrets, fail }: Target): PowerDriver {
  const call = async <Value>(
    signal: AbortSignal,
    work: (commands: Commands) => Promise<Value>,
  ): Promise<Value> => {
    const login = loginOf(await inTime(secrets(), signal, fail), options);
    const resolved = await inTime(resolve(address.host), signal, fail);
    try {
      using line = await openTransport(resolved, address.port);
      const retransmit = { afterMs: options.retransmitAfter, tries: options.retransmitTries };
      const talk: Talk = { line, login, retransmit, signal, fail };
      return await converse(talk, (session) => work(createCommands(talk, session)));
    } catch (error) {
      // Of the socket; whatever else there is speaks for itself.
      if (!isSystemError(error)) throw error;
      const where = `${address.host} port ${address.port}`;
      throw fail('unreachable', `its BMC at ${where} cannot be reached (${error.code})`);
    }
  };

  const uuid = async (commands: Commands): Promise<string | undefined> => {
    const guid = await commands.systemGuid();
    return guid && systemUUID(guid, spec.systemUUID);
  };

  return {
    capabilities: { status: true, softOff: true, hardOff: true, bootFromNetwork: true, sensors: true },
    read: (signal) =>
      call(signal, async (commands) => {
        const { power } = await commands.chassisStatus();
        return { power, systemUUID: await uuid(commands) };
      }),
    set: (verb, signal) =>
      call(signal, async (commands) => {
        try {
          await commands.control(verb);
        } catch (error) {
          // Some refuse to do what is so already.
          const refused = error instanceof PowerError && error.code === 'refused';
          if (!refused || (await commands.chassisStatus()).power !== goals[verb]) throw error;
        }
      }),
    bootFromNetwork: (signal) => call(signal, (commands) => commands.bootFromNetwork(options.bootMode)),
    sense: (signal) =>
      call(signal, async (commands) => {
        const { problems } = await commands.chassisStatus();
        return { watts: await commands.watts(), health: problems.length > 0 ? 'critical' : 'ok', problems };
      }),
    readLog: (after, signal) => call(signal, (commands) => readSel(commands, after)),
    describe: (signal) =>
      call(signal, async (commands) => {
        const { manufacturer, product } = await commands.deviceId();
        return {
          systemUUID: await uuid(commands),
          manufacturer: `IANA enterprise ${manufacturer}`,
          model: `product ${product}`,
          macAddresses: [],
        };
      }),
  };
}

const isSystemError = (error: unknown): error is { readonly code: string } =>
  typeof error === 'object' && error !== null && 'syscall' in error && 'code' in error;
