import type { PowerError } from '../../ports/power.ts';
import { Restart, type Talk } from './talk.ts';

/** A BMC frees unused sessions after 30 to 60 s. */
const sessionsFreedMs = 30_000;

/** With these, and only these, the BMC says that another cipher suite may do. */
export const anotherSuiteMayDo: ReadonlySet<number> = new Set([0x04, 0x05, 0x09, 0x11]);

type Meaning = (talk: Talk) => PowerError;

const noFreeSession: Meaning = ({ fail }) =>
  fail('busy', 'its BMC has no free session. Others use it, or have left theirs open', sessionsFreedMs);

const noCommonSuite: Meaning = ({ fail, login }) =>
  fail(
    'config',
    `its BMC has no cipher suite in common with us (tried ${login.suites.map(({ id }) => id).join(', ')}). Enable 17 or 3 in the BMC; ipmi.cipherSuites says which are tried`,
  );

const privilegeTooLow: Meaning = ({ fail, login }) =>
  fail(
    'auth',
    `the user of ${login.name} may not be ${login.privilege.name} on its BMC. Raise the user's privilege there; powering needs operator`,
  );

const wrongUser: Meaning = ({ fail, login }) =>
  fail('auth', `its BMC does not know the user of ${login.name}, or the user is disabled. Correct username`);

const wrongPassword: Meaning = ({ fail, login }) =>
  fail(
    'auth',
    `its BMC refused the password of ${login.name}. Not trying again so that the account is not locked. Correct password`,
  );

/** RMCP+ status codes that have a remedy. */
const meanings: Readonly<Record<number, Meaning>> = {
  1: noFreeSession,
  4: noCommonSuite,
  5: noCommonSuite,
  9: privilegeTooLow,
  10: privilegeTooLow,
  11: noFreeSession,
  12: wrongUser,
  13: wrongUser,
  16: noCommonSuite,
  17: noCommonSuite,
};

const wrongProof = 0x0f;
/** The BMC no longer has the session: it freed it, restarted, or got a packet twice. */
const sessionGone: ReadonlySet<number> = new Set([0x02, 0x08]);

/** What to throw for a status other than 0 in the answer to a step of the handshake. */
export function handshakeRefused(talk: Talk, status: number, step: string): Error {
  const other = talk.fail('refused', `its BMC refused ${step} (RMCP+ status 0x${hex(status)})`);
  if (sessionGone.has(status)) return new Restart(other);
  // Its own random number may have changed on a packet that came twice: once is no proof.
  if (status === wrongProof) return new Restart(wrongPassword(talk), { doubt: true });
  return meanings[status]?.(talk) ?? other;
}

/** RAKP 2 is the first message that requires the password. */
export function rakp2NotProven({ fail, login }: Talk): Restart {
  const error = fail(
    'auth',
    `its BMC has another password for the user of ${login.name}, or no such user: it does not say which. Not trying again so that the account is not locked. Correct username or password`,
  );
  return new Restart(error, { doubt: true });
}

/** The password has been proven by then: what differs is the other key. */
export function rakp4NotProven({ fail, login }: Talk, bmcHasKg: boolean): PowerError {
  if (!login.kg)
    return fail(
      'auth',
      `its BMC requires a key (Kg) besides the password${bmcHasKg ? ', as it says itself' : ''}. Add kg to ${login.name}`,
    );
  const remedy = bmcHasKg ? 'Correct kg' : 'The BMC says that it has none: remove kg';
  return fail('auth', `the password of ${login.name} is right, its kg is not that of the BMC. ${remedy}`);
}

/** Completion codes of commands that mean more than no. */
const completions: Readonly<Record<number, { readonly code: PowerError['code']; readonly says: string }>> = {
  192: { code: 'busy', says: 'is busy' },
  195: { code: 'timeout', says: 'took too long itself' },
  206: { code: 'busy', says: 'cannot answer now' },
  207: { code: 'busy', says: 'took it for a request it had before' },
  208: { code: 'busy', says: 'updates its records' },
  209: { code: 'busy', says: 'updates its firmware' },
  210: { code: 'busy', says: 'is starting' },
};

export function commandRefused(talk: Talk, completion: number, what: string): PowerError {
  if (completion === 0xd4)
    return talk.fail(
      'auth',
      `its BMC does not let ${talk.login.privilege.name} do this: ${what}. Powering needs operator: see ipmi.privilege, and the user's privilege in the BMC`,
    );
  const { code, says } = completions[completion] ?? { code: 'refused', says: 'refused' };
  return talk.fail(code, `its BMC ${says}: ${what} (completion code 0x${hex(completion)})`);
}

/** Of Set Session Privilege, which has its own codes for it. */
export function privilegeRefused(talk: Talk, completion: number): PowerError {
  if (completion === 0x80 || completion === 0x81) return privilegeTooLow(talk);
  return commandRefused(talk, completion, 'the privilege');
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
