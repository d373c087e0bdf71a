import { basicAuth } from '../../http/address.ts';
import type { HttpPeer } from '../../http/peer.ts';
import { keptOpen } from '../../http/peer.ts';
import { PowerError } from '../../ports/power.ts';
import { type Client, createClient } from './client.ts';
import type { Options } from './options.ts';
import { Root } from './schema.ts';

/** Timeout of the logout: short, because the caller waits for it. */
const logoutMs = 5000;

export interface Login {
  /** The name under which they are kept. */
  readonly name: string;
  readonly username: string;
  readonly password: string;
}

/** Does the work as who the login says, leaving nothing behind in the BMC. */
export async function withClient<Value>(
  bmc: HttpPeer,
  auth: Options['auth'],
  login: Login | undefined,
  signal: AbortSignal,
  work: (client: Client) => Promise<Value>,
): Promise<Value> {
  using peer = keptOpen(bmc, signal);
  if (!login) return await work(createClient(peer, { headers: {} }, signal));
  const credentials = login.name;
  if (auth === 'basic')
    return await work(
      createClient(peer, { headers: { authorization: basicAuth(login) }, credentials }, signal),
    );
  const { token, location } = await logIn(peer, login, signal);
  const identity = { headers: { 'x-auth-token': token }, credentials, session: true };
  try {
    return await work(createClient(peer, identity, signal));
  } finally {
    // Also after the signal: a BMC has few sessions, and a leaked one is kept for half an hour.
    await logOut(createClient(bmc, identity, AbortSignal.timeout(logoutMs)), location);
  }
}

async function logIn(
  peer: HttpPeer,
  { name, username, password }: Login,
  signal: AbortSignal,
): Promise<{ readonly token: string; readonly location: string }> {
  const anonymous = createClient(peer, { headers: {}, credentials: name }, signal);
  const root = await anonymous.get(Root, '/redfish/v1/', 'service root');
  const sessions = root.Links?.Sessions?.['@odata.id'] ?? '/redfish/v1/SessionService/Sessions';
  const answer = anonymous.accepted(
    await anonymous.send('POST', sessions, { UserName: username, Password: password }),
  );
  const { 'x-auth-token': token, location } = answer.headers;
  if (typeof token !== 'string' || typeof location !== 'string')
    throw peer.fail(
      'refused',
      `${peer.who} began a session without telling which. Set redfish.auth to basic`,
    );
  return { token, location };
}

/** The request is already done: a failed logout does not change its result. */
async function logOut(client: Client, location: string): Promise<void> {
  try {
    await client.send('DELETE', location);
  } catch (error) {
    if (!(error instanceof PowerError)) throw error;
  }
}
