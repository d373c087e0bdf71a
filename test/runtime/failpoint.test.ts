import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createFailpoint } from '../../shared/process/failpoint.ts';

function hits(spec: string | undefined, names: string[]): string[] {
  const signals: string[] = [];
  const failpoint = createFailpoint(spec, undefined, (signal) => signals.push(signal));
  for (const name of names) {
    const before = signals.length;
    failpoint(name);
    if (signals.length > before) signals.push(name);
  }
  return signals;
}

test.each([
  [undefined, []],
  ['', []],
  ['after-intent', ['SIGKILL', 'after-intent']],
  ['after-intent=kill', ['SIGKILL', 'after-intent']],
  ['after-intent:2=stop', ['SIGSTOP', 'after-intent']],
  ['after-intent:3', []],
  ['other', []],
])('%s', (spec, expected) => {
  expect(hits(spec, ['before', 'after-intent', 'after-intent'])).toEqual(expected);
});

test('says how to write one', () => {
  expect(() => createFailpoint('a b')).toThrow('write name, name:2, name=stop or name:2=stop');
});

test('a process is killed right there: nothing after it runs, no exit handler either', async () => {
  const module = new URL('../../shared/process/failpoint.ts', import.meta.url).href;
  const script = `
    import { createFailpoint } from '${module}';
    process.on('exit', () => console.log('exit handler'));
    const failpoint = createFailpoint(process.env.BAMEL_FAILPOINT);
    console.log('before'); failpoint('here'); console.log('after');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_OPTIONS: '', BAMEL_FAILPOINT: 'here' },
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGKILL');
  expect(output).toBe('before\n');
});
