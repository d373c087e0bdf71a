import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { type Answer, redfishError } from './answer.ts';
import type { SimulatedMachine } from './machine.ts';
import { collection, paths } from './resources.ts';

const Login = z.object({ UserName: z.string(), Password: z.string() });

export const unauthorized = (): Answer => {
  const error = redfishError(401, 'ResourceAtUriUnauthorized', 'Wrong or missing credentials.');
  return { ...error, headers: { 'WWW-Authenticate': 'Basic realm="Lab BMC"' } };
};

/** Who may talk to one BMC: a password each time, or one of a few sessions. */
export class Sessions {
  readonly #tokens = new Map<string, string>();
  readonly #machine: SimulatedMachine;
  readonly #limit: number;

  constructor(machine: SimulatedMachine, limit: number) {
    this.#machine = machine;
    this.#limit = limit;
  }

  allows({ headers }: IncomingMessage): boolean {
    const token = headers['x-auth-token'];
    if (token !== undefined) return this.#judge([...this.#tokens.values()].includes(String(token)));
    const { user, password } = this.#machine.description.credentials;
    const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    return this.#judge(headers.authorization === expected);
  }

  open(body: unknown): Answer {
    const login = Login.safeParse(body);
    if (!login.success) return redfishError(400, 'PropertyMissing', 'Send UserName and Password.');
    const { user, password } = this.#machine.description.credentials;
    if (!this.#judge(login.data.UserName === user && login.data.Password === password)) return unauthorized();
    for (const { effect, used } of this.#machine.faults.having('login')) {
      const refusal = effect();
      used();
      if (refusal) return refusal;
    }
    if (this.#tokens.size >= this.#limit) {
      return redfishError(
        503,
        'SessionLimitExceeded',
        'Too many sessions are open. Delete one of them first.',
      );
    }
    const id = randomUUID();
    const token = randomBytes(16).toString('hex');
    this.#tokens.set(id, token);
    return {
      status: 201,
      headers: { 'X-Auth-Token': token, Location: `${paths.sessions}/${id}` },
      body: this.#session(id),
    };
  }

  /** undefined: there is no such session. */
  answer(method: string, path: string): Answer | undefined {
    if (path === paths.sessions && method === 'GET') {
      const members = [...this.#tokens.keys()].map((id) => `${paths.sessions}/${id}`);
      return { status: 200, body: collection(paths.sessions, 'SessionCollection', members) };
    }
    const id = path.slice(paths.sessions.length + 1);
    if (!this.#tokens.has(id)) return undefined;
    if (method === 'GET') return { status: 200, body: this.#session(id) };
    if (method !== 'DELETE') return undefined;
    this.#tokens.delete(id);
    return { status: 204 };
  }

  #session(id: string) {
    return {
      '@odata.id': `${paths.sessions}/${id}`,
      '@odata.type': '#Session.v1_7_2.Session',
      Id: id,
      Name: 'Session',
      UserName: this.#machine.description.credentials.user,
    };
  }

  #judge(right: boolean): boolean {
    for (const { effect, used } of this.#machine.faults.having('authenticate')) {
      const verdict = effect(right, this.#machine);
      if (verdict === undefined) continue;
      used();
      return verdict;
    }
    return right;
  }
}
