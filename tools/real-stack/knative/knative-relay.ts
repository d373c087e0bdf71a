// Inside a network namespace: carries connections to and from Unix sockets, which work across namespaces.
// Each line on stdin is one to carry: {"listen": PORT or PATH, "connect": PORT or PATH}; answered with a line.
import { createInterface } from 'node:readline';
import { carry } from './knative-carry.ts';

for await (const line of createInterface(process.stdin)) {
  const { listen, connect } = JSON.parse(line) as { listen: number | string; connect: number | string };
  await carry(listen, connect);
  console.log('ok');
}
process.exit(0);
