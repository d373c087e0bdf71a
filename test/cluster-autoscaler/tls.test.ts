import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { credentials, status } from '@grpc/grpc-js';
import { makeAuthority } from '../../tools/real-stack/certificates.ts';
import { eventually } from '../../tools/support/eventually.ts';
import { describeWith } from '../../tools/support/programs.ts';
import { type Caller, callerOf } from '../../tools/worlds/cluster-autoscaler-client.ts';
import { machine } from '../adapters/inventory-harness.ts';
import { newFolder } from '../support/cleanup.ts';
import { type Bench, openBench, pool } from './harness.ts';

describeWith(['openssl'], 'over TLS', () => {
  const folder = newFolder();
  const authority = makeAuthority(folder);
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const install = () => {
    const { cert, key } = authority.issueServer('bamel');
    copyFileSync(cert, files.cert);
    copyFileSync(key, files.key);
    return readFileSync(cert);
  };
  let bench: Bench;
  beforeAll(async () => {
    install();
    bench = await openBench(
      { pools: [pool()], machines: [machine('m-1')] },
      { tls: { ...files, ca: authority.cert, refreshMs: 100 } },
    );
  });
  afterAll(async () => {
    await bench.close();
  });

  const callers: Caller[] = [];
  afterEach(() => {
    for (const caller of callers.splice(0)) caller.close();
  });
  const callAs = (client?: { cert: string; key: string }) => {
    const caller = callerOf(
      `localhost:${bench.port}`,
      credentials.createSsl(
        readFileSync(authority.cert),
        client ? readFileSync(client.key) : null,
        client ? readFileSync(client.cert) : null,
      ),
    );
    callers.push(caller);
    return caller.call('NodeGroupTargetSize', { id: 'rack' });
  };
  /** The serial number of the certificate that is shown now. */
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const { cert, key } = authority.issueClient('looker');
      const socket = connect(
        {
          host: '127.0.0.1',
          port: bench.port,
          ca: readFileSync(authority.cert),
          cert: readFileSync(cert),
          key: readFileSync(key),
          ALPNProtocols: ['h2'],
        },
        () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });

  test('only who has a certificate of the CA is answered', async () => {
    expect(await callAs(authority.issueClient('cluster-autoscaler'))).toEqual({ targetSize: 0 });
    await expect(callAs()).rejects.toMatchObject({ code: status.UNAVAILABLE });
    const plain = callerOf(`127.0.0.1:${bench.port}`);
    callers.push(plain);
    await expect(plain.call('NodeGroups')).rejects.toMatchObject({ code: status.UNAVAILABLE });
  });

  test('certificates are changed while it runs', async () => {
    const before = await shown();
    install();
    await eventually(async () => expect(await shown()).not.toBe(before));
    expect(await callAs(authority.issueClient('cluster-autoscaler'))).toEqual({ targetSize: 0 });
  });
});
