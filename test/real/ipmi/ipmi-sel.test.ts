import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IpmiSim, startIpmiSim } from '../../../tools/real-stack/ipmi/ipmi-sim.ts';
import { createIpmitool } from '../../../tools/real-stack/ipmi/ipmitool.ts';
import { eventually } from '../../../tools/support/eventually.ts';
import { describeWith } from '../../../tools/support/programs.ts';
import { credentials, patient } from '../../drivers/harness.ts';
import { ipmiDriver } from '../../drivers/ipmi/ipmi-harness.ts';

describeWith(['ipmi_sim', 'ipmitool'], 'the SEL of ipmi_sim', () => {
  let sim: IpmiSim;
  let ipmitool: ReturnType<typeof createIpmitool>;
  beforeAll(async () => {
    sim = await startIpmiSim({ credentials, guid: 'a123456789abcdefa123456789abcdef' });
    ipmitool = createIpmitool({ ...credentials, port: sim.port, suite: 3 });
  });
  afterAll(() => sim?.close());

  test('what ipmitool puts into the SEL is read, once, until it is cleared', async () => {
    const driver = await ipmiDriver(sim.port);
    const read = async (after?: string) => driver.readLog?.(after, patient());
    await ipmitool('sel', 'clear');
    await eventually(async () => expect(await read()).toEqual({ entries: [], restarted: true }));
    const folder = mkdtempSync(join(tmpdir(), 'bamel-sel-'));
    try {
      const add = async (...events: string[]) => {
        writeFileSync(join(folder, 'events'), `${events.join('\n')}\n`);
        await ipmitool('sel', 'add', join(folder, 'events'));
      };
      // Revision, kind of sensor, its number, type of event, data.
      await add('0x04 0x01 0x30 0x01 0x57 0x00 0x00', '0x04 0x08 0x51 0x6f 0x01 0xff 0xff');
      const listed = await ipmitool('sel', 'elist');
      expect(listed).toContain('Power Supply #0x51 | Failure detected');
      const first = await read();
      expect(first?.restarted).toBe(true);
      expect(first?.entries).toMatchObject([
        { kind: 'critical', text: expect.stringContaining('power supply 0x51: failure detected') },
      ]);
      expect(Math.abs((first?.entries[0]?.at ?? Date.now()) - Date.now())).toBeLessThan(24 * 3_600_000);
      expect(await read(first?.last)).toEqual({ last: first?.last, restarted: false, entries: [] });
      await add('0x04 0x08 0x51 0xef 0x01 0xff 0xff');
      const second = await read(first?.last);
      expect(second).toMatchObject({ restarted: false, entries: [{ kind: 'over' }] });
      expect(second?.entries[0]?.about).toBe(first?.entries[0]?.about);
      await ipmitool('sel', 'clear');
      await eventually(async () =>
        expect(await read(second?.last)).toEqual({ entries: [], restarted: true }),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
