import { readSettings } from '../../shared/process/settings.ts';

function settings(args: string[], env: Record<string, string> = {}) {
  const read = readSettings(args, env);
  if ('help' in read) throw new Error('help was asked for');
  return read.settings;
}

test('defaults: everything in one process, in memory, on loopback', () => {
  expect(settings([])).toEqual({
    store: 'embedded:',
    port: 8080,
    host: '127.0.0.1',
    insecure: false,
    sinkTokenFile: '/oidc/token',
    pressureCallers: ['system:serviceaccount:bamel-sensor:bamel-sensor'],
    eventMaxAgeMs: 900_000,
    rateLimit: 1_000,
    tickMs: 10_000,
    logLevel: 'info',
  });
});

test('the environment sets, a flag wins over it', () => {
  const env = { BAMEL_STORE: 'etcd://a:2379,b:2379', PORT: '9000', BAMEL_TICK: '1m', BAMEL_INSECURE: 'true' };
  expect(settings([], env)).toMatchObject({
    store: env.BAMEL_STORE,
    port: 9000,
    tickMs: 60_000,
    insecure: true,
  });
  expect(settings(['--port=0', '--tick', '500ms', '--insecure=false'], env)).toMatchObject({
    port: 0,
    tickMs: 500,
    insecure: false,
  });
  expect(settings(['--insecure'])).toMatchObject({ insecure: true });
});

test('an empty variable is one that is not set', () => {
  expect(settings([], { K_SINK: '', PORT: '' })).toMatchObject({ port: 8080 });
});

test("Knative's overrides are parsed", () => {
  const env = { K_CE_OVERRIDES: '{"extensions":{"team":"infra"}}', K_SINK: 'http://broker/default' };
  expect(settings([], env)).toMatchObject({
    ceOverrides: { extensions: { team: 'infra' } },
    sink: env.K_SINK,
  });
});

test.each([
  [['--prot', '1'], {}, '--prot: unknown flag. Did you mean port? See --help'],
  [['--failpoint', 'x'], {}, '--failpoint: unknown flag. See --help'],
  [['--port'], {}, '--port: needs a value. See --help'],
  [['--port', '70000'], {}, '--port: write a number up to 65535'],
  [[], { PORT: 'http' }, 'PORT: write a whole number'],
  [[], { BAMEL_TICK: '10' }, 'BAMEL_TICK: not a duration: write "500ms", "90s", "15m", "1h30m" or "2d"'],
  [[], { BAMEL_TICK: '0s' }, 'BAMEL_TICK: write at least 100ms'],
  [
    [],
    { BAMEL_STORE: 'mysql://x' },
    'BAMEL_STORE: write embedded:, embedded:path/to/file or etcd://host:2379',
  ],
  [[], { K_SINK: 'ftp://x' }, 'K_SINK: write an http:// or https:// URL'],
  [[], { LOG_LEVEL: 'loud' }, 'LOG_LEVEL: Invalid option'],
  [[], { K_CE_OVERRIDES: '{' }, 'K_CE_OVERRIDES: not JSON'],
  [['status'], {}, 'status: not understood here. Write settings as --name value; see --help'],
])('%j %j is refused', (args, env, message) => {
  expect(() => settings(args, env)).toThrow(message);
});

test('help lists every flag with its variable, and only those a person sets', () => {
  const read = readSettings(['--port', '1', '--help'], {});
  const help = 'help' in read ? read.help : '';
  for (const name of [
    '--config FILE',
    'BAMEL_CONFIG',
    '--token-file FILE',
    'BAMEL_TOKEN_FILE',
    '--insecure ',
    'BAMEL_TICK',
  ])
    expect(help).toContain(name);
  expect(help).not.toContain('BAMEL_FAILPOINT');
});
