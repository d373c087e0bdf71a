import { createLog, type LogOptions } from '../../shared/process/log.ts';

const canary = 'hunter2-canary';

function logged(
  options: Partial<LogOptions>,
  write: (log: ReturnType<typeof createLog>) => void,
  isTTY = false,
): string {
  let text = '';
  const stream = {
    isTTY,
    write: (line: string) => {
      text += line;
    },
  };
  write(createLog({ level: 'info', format: 'json', stream, ...options }));
  return text;
}

test('json: a static message, fields, a level by name and a readable time', () => {
  const text = logged({}, (log) =>
    log.child({ function: 'power-action' }).info({ machine: 'tower-1' }, 'power read'),
  );
  expect(JSON.parse(text)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    function: 'power-action',
    machine: 'tower-1',
    msg: 'power read',
  });
});

test('entries below the level are not written', () => {
  expect(logged({ level: 'warn' }, (log) => log.info({}, 'quiet'))).toBe('');
});

/** As axios makes them: the whole request hangs on the error. */
function httpClientError(): Error {
  const config = { headers: { Authorization: `Basic ${canary}` }, auth: { password: canary }, data: canary };
  const cause = Object.assign(new Error(`connect https://root:${canary}@10.0.0.1/ failed`), { config });
  return Object.assign(new Error('Request failed with status code 401', { cause }), {
    code: 'ERR_BAD_REQUEST',
    status: 401,
    config,
    request: { _header: `Authorization: Basic ${canary}` },
    response: { data: canary, config },
  });
}

describe.each(['json', 'story'] as const)('%s: secrets never reach the log', (format) => {
  test.each<[string, object]>([
    ['a field', { password: canary }],
    ['a field deep inside', { machine: { bmc: { credentials: { username: 'root', password: canary } } } }],
    ['inside a list', { machines: [{ token: canary }] }],
    [
      'a header',
      { headers: { Authorization: `Bearer ${canary}`, 'x-auth-token': canary, 'Set-Cookie': canary } },
    ],
    ['a compound name', { bmcPassword: canary, clientSecret: canary }],
    ['a URL', { url: `https://root:${canary}@10.0.0.1/redfish` }],
    ['text with a header in it', { why: `sent Authorization: Bearer ${canary}` }],
    ['an HTTP client error', { err: httpClientError() }],
    ['an error under another name', { problem: httpClientError() }],
    ['several errors in one', { err: new AggregateError([httpClientError()], 'all failed') }],
    ['something that turns itself into JSON', { request: { toJSON: () => ({ password: canary }) } }],
  ])('%s', (_name, fields) => {
    const text = logged({ format }, (log) => {
      log.error(fields, 'went wrong');
      log.child({ ...fields }).error({}, 'went wrong');
      log.error({}, `went wrong at https://root:${canary}@bmc/`);
    });
    expect(text).toContain('went wrong');
    expect(text).not.toContain(canary);
  });
});

test('an error keeps what helps: message, code, status, stack, cause', () => {
  const { err } = JSON.parse(logged({}, (log) => log.error({ err: httpClientError() }, 'x')));
  expect(err).toMatchObject({
    type: 'Error',
    message: 'Request failed with status code 401',
    code: 'ERR_BAD_REQUEST',
    status: 401,
    stack: expect.stringContaining('log.test.ts'),
    cause: { message: 'connect https://[redacted]@10.0.0.1/ failed' },
  });
  expect(Object.keys(err).sort()).toEqual(['cause', 'code', 'message', 'stack', 'status', 'type']);
});

test('a circular object is no reason to fail', () => {
  const loop: Record<string, unknown> = { name: 'a' };
  loop.self = loop;
  expect(logged({}, (log) => log.info({ loop }, 'x'))).toContain('[too deep]');
});

describe('story', () => {
  const story = (write: (log: ReturnType<typeof createLog>) => void, isTTY = false) =>
    logged({ format: 'story', level: 'debug' }, write, isTTY).replace(/\d\d:\d\d:\d\d/g, '12:00:01');

  test('tells steps, in columns', () => {
    const text = story((log) => {
      log.info({ step: 'evaluate', pods: 3, text: '3 pods cannot be scheduled' }, 'demand found');
      log.info({ step: 'power', machine: 'tower-1', text: 'on, verified by 2 reads' }, 'power verified');
      log.info({ step: 'join', machine: 'mini-1' }, 'node joined');
    });
    expect(text).toBe(
      [
        '12:00:01  evaluate   3 pods cannot be scheduled',
        '12:00:01  power      tower-1  on, verified by 2 reads',
        '12:00:01  join       mini-1   node joined',
        '',
      ].join('\n'),
    );
  });

  test('of all else, only what is alarming', () => {
    const text = story((log) => {
      log.info({ function: 'x' }, 'function done');
      log.warn({ machine: 'mini-1', tries: 3 }, 'event given up on');
    });
    expect(text).toBe('12:00:01  warn       event given up on machine=mini-1 tries=3\n');
  });

  test('an error shows its message and its stack', () => {
    const text = story((log) => log.error({ err: new TypeError('oops') }, 'this is a bug'));
    expect(text).toMatch(/^12:00:01 {2}error {6}this is a bug err=oops\n {10}TypeError: oops\n {10} +at /);
  });

  test('nothing from outside can move the cursor or forge a line', () => {
    const text = story((log) =>
      log.info({ step: 'join', machine: 'a\u001b[2J', text: 'x\n12:00:01  power' }, 'm'),
    );
    expect(text).toBe('12:00:01  join       a [2J  x 12:00:01  power\n');
  });

  test('colours on a terminal only, and not with NO_COLOR', () => {
    const write = (log: ReturnType<typeof createLog>) => log.info({ step: 'power' }, 'm');
    const before = process.env.NO_COLOR;
    delete process.env.NO_COLOR;
    try {
      expect(story(write, true)).toContain('\u001b[');
      expect(story(write, false)).not.toContain('\u001b[');
      process.env.NO_COLOR = '1';
      expect(story(write, true)).not.toContain('\u001b[');
    } finally {
      if (before === undefined) delete process.env.NO_COLOR;
      else process.env.NO_COLOR = before;
    }
  });
});
