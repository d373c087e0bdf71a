import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const ip = (...args: string[]) => promisify(execFile)('ip', args);

/** A pod's network, and the cable from it to this machine, as a network plugin would lay it. */
export interface Cable {
  /** The end on this machine. */
  readonly outside: string;
  /** The addresses of both. */
  readonly node: string;
  readonly pod: string;
  /** How to run a program at the pod's end. */
  inside(program: string, ...args: string[]): readonly [program: string, args: readonly string[]];
  close(): Promise<void>;
}

export async function layCable(number = 0): Promise<Cable> {
  const namespace = `bamel-net-${process.pid}-${number}`;
  const outside = `vh${process.pid}n${number}`;
  const [node, pod] = [`10.78.${number}.1`, `10.78.${number}.2`];
  await using cleanup = new AsyncDisposableStack();
  await ip('netns', 'add', namespace);
  // The other end goes with it.
  cleanup.defer(async () => void (await ip('netns', 'delete', namespace)));
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  await ip('address', 'add', `${node}/24`, 'dev', outside);
  await ip('link', 'set', outside, 'up');
  await ip('-n', namespace, 'address', 'add', `${pod}/24`, 'dev', 'eth0');
  await ip('-n', namespace, 'link', 'set', 'eth0', 'up');
  const laid = cleanup.move();
  return {
    outside,
    node,
    pod,
    inside: (program, ...args) => ['ip', ['netns', 'exec', namespace, program, ...args]],
    close: () => laid.disposeAsync(),
  };
}
