import { type Containers, containerPrograms, startContainers } from '../../../tools/real-stack/containers.ts';
import { describeWith } from '../../../tools/support/programs.ts';

const loader = 'localhost/bamel-sensor-bpf:1';

describeWith([...containerPrograms, 'mmdebstrap'], 'the image of the eBPF loader', () => {
  let containers: Containers;
  beforeAll(async () => {
    containers = await startContainers();
    const base = await containers.debianBase();
    await containers.build(loader, 'images/sensor-bpf.Dockerfile', 'sensor/bpf', base);
  }, 900_000);
  afterAll(() => containers?.close());

  test('is one static program, of which nothing of the base is left', async () => {
    const layers = await containers.layers(loader);
    const bytes = layers.reduce((sum, { size }) => sum + size, 0);
    console.log(`${loader}: ${bytes} bytes in ${layers.length} layers, compressed`);
    expect(bytes).toBeLessThan(2e6);
    const { ended, lines } = containers.run(loader, []);
    expect([await ended, lines.join()]).toEqual([2, expect.stringMatching(/usage/i)]);
  });
});
