import type { MachineSpec, Power } from '../../core/machine/machine.ts';
import { basicAuth } from '../../http/address.ts';
import { accepted } from '../../http/answers.ts';
import { digestAnswer } from '../../http/digest.ts';
import type { HttpAnswer } from '../../http/exchange.ts';
import { type HttpRequest, httpRequest } from '../../http/peer.ts';
import type { DriverDefinition, DriverDeps, PowerReading } from '../../ports/power.ts';
import type { CompanionDriver } from '../common/companion.ts';
import { pick } from '../common/credentials.ts';
import { createWitness } from '../common/evidence.ts';
import { failureOf } from '../common/failure.ts';
import { prepareCalls } from './calls.ts';
import { HttpOptions } from './options.ts';
import { firstAt } from './pointer.ts';
import { presets } from './presets.ts';

const uses = ['credentials', 'resolve', 'nodeOf'] as const;
type Deps = Pick<DriverDeps, (typeof uses)[number]>;

export { HttpOptions };

/** Devices that are switched by a plain HTTP call: smart plugs, home automation, custom services. */
export function createHttp(
  spec: MachineSpec,
  options: HttpOptions,
  deps: Deps,
  section = 'http',
): CompanionDriver {
  const fail = failureOf(spec);
  const address = addressOf(spec, options, section);
  const { verbs, status } = prepareCalls(spec, options, address, fail);
  const peer = {
    who: `its switch at ${address.host}`,
    address,
    tls: options.tls,
    section,
    resolve: deps.resolve,
    fail,
  };
  const secretName = options.credentials ?? spec.bmcCredentials;

  /** Sends the request with the credentials. */
  const send = async (request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> => {
    const as = (authorization?: string) =>
      httpRequest(
        peer,
        { ...request, headers: { ...request.headers, ...(authorization && { authorization }) } },
        signal,
      );
    if (!secretName) return as();
    const secret = await deps.credentials(secretName);
    const preset = options.preset && presets[options.preset];
    const auth = options.auth ?? preset?.auth ?? (secret.token === undefined ? 'basic' : 'bearer');
    if (auth === 'bearer') return as(`Bearer ${pick(secret, secretName, ['token']).token}`);
    const login = pick(secret, secretName, ['username', 'password']);
    if (auth === 'basic') return as(basicAuth(login));
    const first = await as();
    const challenge = [first.headers['www-authenticate']].flat()[0];
    const answer =
      first.status === 401 && digestAnswer(challenge, login, { method: request.method, uri: request.path });
    return answer ? as(answer) : first;
  };

  const call = async (request: HttpRequest, signal: AbortSignal): Promise<unknown> => {
    const { text } = accepted(peer, await send(request, signal), secretName);
    try {
      return JSON.parse(text);
    } catch {
      // Simple devices answer a bare word.
      return text.trim();
    }
  };

  const readStatus =
    status &&
    (async (signal: AbortSignal): Promise<PowerReading> => {
      const value = firstAt(await call(status.request, signal), status.pointers);
      const means = (values: readonly unknown[]) => values.includes(value);
      const power: Power = means(status.on) ? 'on' : means(status.off) ? 'off' : 'unknown';
      return { power };
    });

  return {
    capabilities: {
      status: status !== undefined,
      softOff: verbs['soft-off'] !== undefined,
      hardOff: verbs['hard-off'] !== undefined,
      bootFromNetwork: false,
      sensors: false,
    },
    switchesOn: verbs.on !== undefined,
    read: readStatus ?? createWitness(spec, undefined, deps),
    async set(verb, signal) {
      const wanted = verbs[verb];
      if (!wanted) throw fail('config', `it cannot be told ${verb}: ${section} has no call for it`);
      const answer = await call(wanted.request, signal);
      const found = firstAt(answer, wanted.pointers);
      // Not the answer itself: it may repeat what was sent.
      if (wanted.values && !wanted.values.some((value) => value === found))
        throw fail(
          'refused',
          `${peer.who} took the call for ${verb}, but its answer is not the expected one`,
        );
    },
  };
}

function addressOf(spec: MachineSpec, { url }: HttpOptions, section: string): URL {
  const fail = failureOf(spec);
  const address = URL.parse(url ?? spec.mgmtAddress ?? '');
  if (!address || !/^https?:$/.test(address.protocol))
    throw fail(
      'config',
      `${section} needs an address: set mgmtAddress or ${section}.url, such as http://10.0.0.5`,
    );
  // It would stand in the store and in messages.
  if (address.username || address.password)
    throw fail('config', 'its address has a user or password in it: they belong into its credentials');
  return address;
}

export const driver: DriverDefinition<HttpOptions, (typeof uses)[number]> = {
  uses,
  options: HttpOptions.refine(({ preset, on }) => preset || on, {
    error: 'name a preset, or give the call',
    path: ['on'],
  }),
  create: createHttp,
};
