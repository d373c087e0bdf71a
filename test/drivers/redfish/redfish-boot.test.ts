import type { PowerDriver } from '../../../shared/ports/power.ts';
import { closing } from '../../support/cleanup.ts';
import { type Answers, driverOf, failing, machineSpec, patient, startScripted } from '../harness.ts';
import { type LabBmc, startLabBmc } from '../lab-bmc.ts';

const boot = async (driver: PowerDriver) => {
  if (!driver.bootFromNetwork) throw new Error('it cannot boot from the network');
  await driver.bootFromNetwork(patient());
};

describe('on the lab BMC', () => {
  let lab: LabBmc;
  beforeEach(async () => {
    lab = await startLabBmc();
  });
  afterEach(() => lab.close());

  test('the next boot is from the network, the one after it is not', async () => {
    const driver = await lab.driver();
    await boot(driver);
    expect(lab.machine.bootOverride).toMatchObject({
      BootSourceOverrideTarget: 'Pxe',
      BootSourceOverrideEnabled: 'Once',
    });
    const bootedFrom = async () => {
      await driver.set('on', patient(), 'op-1');
      lab.clock.advance(100_000);
      await driver.set('hard-off', patient(), 'op-1');
      return lab.machine.bootedFrom;
    };
    expect([await bootedFrom(), await bootedFrom()]).toEqual(['Pxe', 'Hdd']);
  });

  test('the boot mode of the option is set, without one it is left alone', async () => {
    lab.machine.bootOverride = { ...lab.machine.bootOverride, BootSourceOverrideMode: 'Legacy' };
    await boot(await lab.driver());
    expect(lab.machine.bootOverride.BootSourceOverrideMode).toBe('Legacy');
    await boot(await lab.driver({ bootMode: 'UEFI' }));
    expect(lab.machine.bootOverride.BootSourceOverrideMode).toBe('UEFI');
  });

  test('fault 15: a BMC that says OK and forgets it is found out', async () => {
    lab.fault('forgets-boot');
    const error = await failing(async () => boot(await lab.driver()));
    expect(error).toMatchObject({ code: 'refused', final: false });
    expect(error.message).toContain('took BootSourceOverrideTarget Pxe and shows "None"');
  });

  test.each([
    ['weak', ['412', '200']],
    ['none', ['412', '412', '200']],
    ['any', ['200']],
  ])('an ETag that only works %s', async (wants, answers) => {
    lab.fault('odd-etags', { wants });
    await boot(await lab.driver());
    expect(lab.machine.commands.map(({ accepted }) => (accepted ? '200' : '412'))).toEqual(answers);
  });

  test('nothing is commanded besides', async () => {
    await boot(await lab.driver());
    expect(lab.machine.commands.map(({ verb }) => verb)).toEqual(['SetBoot']);
  });
});

describe('makers', () => {
  const system = '/redfish/v1/Systems/a';
  const settings = `${system}/SD`;
  const was = {
    BootSourceOverrideTarget: 'None',
    BootSourceOverrideEnabled: 'Disabled',
    BootSourceOverrideMode: 'Legacy',
    BootSourceOverrideUnlikely: 'x',
    BootOrder: ['Boot0001'],
  };
  const set = { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' };

  /** What is sent where to a system that then shows what it is made to show. */
  async function sent(
    more: Record<string, unknown>,
    shows: object = { ...was, ...set },
    answers: Answers = {},
    bootMode?: string,
  ) {
    const patched: { path: string; ifMatch: string | undefined; body: unknown }[] = [];
    const resource = { Manufacturer: 'x', Boot: was, ...more };
    const bmc = closing(
      await startScripted(
        { [`GET ${system}`]: { body: resource }, ...answers },
        ({ method, path, headers, body }, all) => {
          if (method !== 'PATCH') return;
          patched.push({ path, ifMatch: headers['if-match'], body: JSON.parse(body) });
          all[`PATCH ${path}`] = { status: 200 };
          all[`GET ${path}`] = { body: { ...resource, Boot: shows } };
        },
      ),
    );
    await boot(await driverOf(machineSpec(bmc.url, { options: { system, ...(bootMode && { bootMode }) } })));
    return patched;
  }

  test('most are told no more than what changes', async () => {
    expect(await sent({ Manufacturer: 'HPE' })).toEqual([
      { path: system, ifMatch: undefined, body: { Boot: set } },
    ]);
  });

  test('Supermicro is told the mode too, or it takes a default', async () => {
    const [patch] = await sent({ Manufacturer: 'Supermicro' });
    expect(patch?.body).toEqual({ Boot: { ...set, BootSourceOverrideMode: 'Legacy' } });
  });

  test('AMI is told everything about the override, in its settings, with an If-Match', async () => {
    const [patch] = await sent(
      { Manufacturer: 'ASRockRack', '@Redfish.Settings': { SettingsObject: { '@odata.id': settings } } },
      { ...was, ...set },
      { [`GET ${settings}`]: { body: { Boot: was } } },
    );
    const { BootOrder: _, ...rest } = was;
    expect(patch).toEqual({ path: settings, ifMatch: '*', body: { Boot: { ...rest, ...set } } });
  });

  test('Lenovo gets its If-Match from the body where no header has it', async () => {
    const [patch] = await sent({ Manufacturer: 'Lenovo', '@odata.etag': 'W/"7"' });
    expect(patch?.ifMatch).toBe('W/"7"');
  });

  test('settings that hold no Boot, or are not there, are left alone', async () => {
    const link = { '@Redfish.Settings': { SettingsObject: { '@odata.id': settings } } };
    for (const answers of [{ [`GET ${settings}`]: { body: {} } }, {}])
      expect((await sent(link, undefined, answers)).map(({ path }) => path)).toEqual([system]);
  });

  test('a mode that is taken and forgotten is found out', async () => {
    const error = await failing(() =>
      sent({}, { ...was, ...set, BootSourceOverrideMode: 'Legacy' }, {}, 'UEFI'),
    );
    expect(error.message).toContain('took BootSourceOverrideMode UEFI and shows "Legacy"');
  });

  test('one that cannot boot from the network is not asked to', async () => {
    const targets = { 'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Hdd'] };
    const error = await failing(() => sent({ Boot: { ...was, ...targets } }));
    expect(error.message).toContain('cannot boot from the network, only from None, Hdd');
  });
});
