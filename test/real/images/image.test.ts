import { deployed } from '../../../apps/host/deployed.ts';
import {
  type Containers,
  containerPrograms,
  type RunningContainer,
  startContainers,
} from '../../../tools/real-stack/containers.ts';
import { type BuiltFolder, buildFolder } from '../../../tools/support/build-folder.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { tick } from '../../build/scene.ts';

const bamel = 'localhost/bamel:1';
const sensor = 'localhost/bamel-sensor:1';
const onLoopback = { PORT: '0', LOG_FORMAT: 'json', BAMEL_STORE: 'embedded:' };

describeWith(containerPrograms, 'images on a base with nothing but Node.js', () => {
  let built: BuiltFolder;
  let containers: Containers;
  let running: RunningContainer | undefined;
  beforeAll(async () => {
    [built, containers] = await Promise.all([buildFolder(), startContainers()]);
    const base = await containers.nodeBase();
    await containers.build(bamel, 'images/bamel.Dockerfile', built.folder, base);
    await containers.build(sensor, 'images/sensor.Dockerfile', `${built.folder}/sensor`, base);
  }, 600_000);
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });
  afterAll(async () => {
    await containers?.close();
    await built?.remove();
  });

  const url = /"url":"([^"]+)"/;
  const start = async (args: string[], env: Record<string, string> = {}) => {
    running = containers.run(bamel, args, { ...onLoopback, ...env });
    return { url: await running.captured(url), running };
  };

  /** Runs code in the container before its own program, which does not start. */
  const inside = async (name: string, code: string) => {
    const script = encodeURIComponent(`delete process.env.HOME; ${code}; process.exit(0)`);
    const { ended, lines } = containers.run(name, [], {
      NODE_OPTIONS: `--import=data:text/javascript,${script}`,
    });
    expect([await ended, lines.filter((line) => line.includes('Error'))]).toEqual([0, []]);
    return JSON.parse(lines.join(''));
  };
  const fs = "const fs = process.getBuiltinModule('fs')";

  test.each([
    [bamel, 65532],
    [sensor, 65534],
  ])('%s runs as %i, which may write nothing, has no capability and no HOME', async (name, uid) => {
    const code = `${fs};
      const tryTo = (what) => { try { what(); return 'done' } catch ({ code }) { return code } };
      console.log(JSON.stringify({
        uid: process.getuid(),
        write: ['/app/x', '/tmp/x', '/x'].map((file) => tryTo(() => fs.writeFileSync(file, ''))),
        home: process.getBuiltinModule('os').homedir ? tryTo(() => process.getBuiltinModule('os').homedir()) : '',
        capabilities: /CapBnd:\\s+(\\w+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1],
      }))`;
    expect(await inside(name, code)).toEqual({
      uid,
      write: ['EROFS', 'EROFS', 'EROFS'],
      home: 'ERR_SYSTEM_ERROR',
      capabilities: '0'.repeat(16),
    });
  });

  test.each([bamel, sensor])('%s: what is ours is small, and lists its packages', async (name) => {
    const [base, ...ours] = await containers.layers(name);
    const bytes = ours.reduce((sum, { size }) => sum + size, 0);
    console.log(`${name}: ${bytes} bytes on a base of ${base?.size}, compressed`);
    expect(bytes).toBeLessThan(25e6);
    const { components } = await inside(name, `${fs}; console.log(fs.readFileSync('sbom.cdx.json', 'utf8'))`);
    expect(components.map((one: { name: string }) => one.name)).toContain('zod');
  });

  test('code is compiled by the image’s own Node.js', async () => {
    const folders = await inside(bamel, `${fs}; console.log(JSON.stringify(fs.readdirSync('cache')))`);
    expect(folders).toEqual([expect.stringMatching(`^${process.version}-`)]);
  });

  test.each(deployed.map(({ name }) => name))('%s answers and stops when told', async (name) => {
    const { url: at, running: container } = await start([name]);
    expect((await fetch(`${at}/health/liveness`)).status).toBe(200);
    expect((await fetch(`${at}/health/readiness`)).status).toBe(200);
    expect(await container.stop()).toBe(0);
  });

  test('BAMEL_FUNCTION names the function as well, and it handles a tick', async () => {
    const { url: at } = await start([], { BAMEL_FUNCTION: 'power-action' });
    expect(await tick(at)).toBe(204);
  });

  test('without a name it is the host: the demo powers a machine on', async () => {
    const { url: at, running: container } = await start([]);
    await container.captured(/power requested/);
    expect((await fetch(`${at}/console/main.js`)).status).toBe(200);
    expect(await container.stop()).toBe(0);
  });

  test('the provider of the Cluster Autoscaler listens', async () => {
    running = containers.run(bamel, ['cluster-autoscaler'], { ...onLoopback, BAMEL_GRPC_PORT: '0' });
    expect(Number(await running.captured(/"port":(\d+)/))).toBeGreaterThan(0);
  });

  test('the command runs', async () => {
    const { ended, lines } = containers.run(bamel, ['bamel', 'version']);
    expect([await ended, lines.join('')]).toEqual([0, expect.stringMatching(/^bamel \d+\.\d+\.\d+ /)]);
  });

  test('a function that does not exist is refused, with those that do', async () => {
    const { ended, lines } = containers.run(bamel, ['power-actoin']);
    expect([await ended, lines.join()]).toEqual([2, expect.stringContaining('power-action')]);
  });

  test('the sensor serves what it reads of the node', async () => {
    running = containers.run(sensor, [], { BAMEL_HEALTH_PORT: '0', NODE_NAME: 'n1' });
    const metrics = await running.captured(/"metrics":"([^"]+)"/);
    expect(await (await fetch(`${metrics}/metrics`)).text()).toContain('node="n1"');
  });
});
