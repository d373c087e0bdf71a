import type { PowerDriver } from '../../../shared/ports/power.ts';
import { closing } from '../../support/cleanup.ts';
import { type Answers, driverOf, failing, machineSpec, patient, startScripted } from '../harness.ts';
import { type LabBmc, startLabBmc } from '../lab-bmc.ts';

const sense = async (driver: PowerDriver) => driver.sense?.(patient());
const describeIt = async (driver: PowerDriver) => driver.describe?.(patient());
const link = (path: string) => ({ '@odata.id': path });
const members = (...paths: string[]) => ({ body: { Members: paths.map(link) } });

describe('on the lab BMC', () => {
  let lab: LabBmc;
  beforeEach(async () => {
    lab = await startLabBmc({ gpu: 2, watts: { idle: 90, max: 400 }, macAddress: '02:AA:00:00:00:07' });
  });
  afterEach(() => lab.close());

  test('watts, degrees and health', async () => {
    const driver = await lab.driver();
    expect(await sense(driver)).toEqual({ watts: 5, celsius: 24, health: 'ok', problems: [] });
    lab.machine.startBooted();
    expect((await sense(driver))?.watts).toBe(90);
  });

  test('too hot is critical, in words', async () => {
    lab.fault('unhealthy', { celsius: 61 });
    expect(await sense(await lab.driver())).toMatchObject({
      celsius: 61,
      health: 'critical',
      problems: ['Inlet Temp is at 61 °C, critical from 47'],
    });
  });

  test.each([
    ['PSU 2', 'Critical', 'critical', 'PSU 2 failed'],
    ['Fan 1', 'Warning', 'warning', 'Fan 1 is not well (Warning)'],
  ])('%s %s', async (name, health, overall, problem) => {
    lab.fault('failed-part', { name, health });
    expect(await sense(await lab.driver())).toMatchObject({ health: overall, problems: [problem] });
  });

  test('what machine it is', async () => {
    const { systemUUID, serialNumber } = lab.machine.identity;
    expect(await describeIt(await lab.driver())).toEqual({
      systemUUID,
      serial: serialNumber,
      manufacturer: 'Bamel',
      model: 'Lab',
      macAddresses: ['02:aa:00:00:00:07'],
      cpus: 4,
      memoryBytes: 8 * 2 ** 30,
      gpus: 2,
    });
  });

  test('how far its boot has come', async () => {
    const driver = await lab.driver();
    const progress = async () => (await driver.read(patient())).bootProgress;
    const seen = [await progress()];
    await driver.set('on', patient(), 'op-1');
    seen.push(await progress());
    lab.clock.advance(3000);
    seen.push(await progress());
    lab.clock.advance(100_000);
    seen.push(await progress());
    expect(seen).toEqual(['None', 'PrimaryProcessorInitializationStarted', 'OSBootStarted', 'OSRunning']);
  });
});

describe('on a BMC with the newer resources', () => {
  const system = '/redfish/v1/Systems/a';
  const chassis = '/redfish/v1/Chassis/c';
  const bad = (Name: string) => ({ body: { Name, Status: { State: 'Enabled', Health: 'Critical' } } });
  const good = (Name: string) => ({ body: { Name, Status: { State: 'Enabled', Health: 'OK' } } });
  const usual: Answers = {
    [`GET ${system}`]: {
      body: { PowerState: 'On', Status: { Health: 'OK' }, Links: { Chassis: [link(chassis)] } },
    },
    [`GET ${chassis}`]: {
      body: {
        EnvironmentMetrics: link('/em'),
        PowerSubsystem: link('/ps'),
        ThermalSubsystem: link('/ts'),
      },
    },
    'GET /em': { body: { PowerWatts: { Reading: 210.5 }, TemperatureCelsius: { Reading: 23 } } },
    'GET /ps': { body: { PowerSupplies: link('/ps/all') } },
    'GET /ps/all': members('/ps/1', '/ps/2'),
    'GET /ps/1': good('PSU one'),
    'GET /ps/2': bad('PSU two'),
    'GET /ts': { body: { Fans: link('/ts/fans'), ThermalMetrics: link('/ts/metrics') } },
    'GET /ts/fans': members('/ts/f1'),
    'GET /ts/f1': good('Fan'),
    'GET /ts/metrics': { body: { TemperatureReadingsCelsius: [{ Reading: 71, DeviceName: 'CPU' }, {}] } },
  };
  async function at(answers: Answers, work: (driver: PowerDriver) => Promise<unknown>) {
    const bmc = closing(await startScripted({ ...usual, ...answers }));
    return await work(await driverOf(machineSpec(bmc.url, { options: { system } })));
  }

  test('watts, degrees, health of each part', async () => {
    expect(await at({}, sense)).toEqual({
      watts: 210.5,
      celsius: 71,
      health: 'critical',
      problems: ['PSU two failed'],
    });
  });

  test('what is missing or not as Redfish has it is left out', async () => {
    const answers: Answers = {
      'GET /em': { body: { PowerWatts: { Reading: 'much' } } },
      'GET /ps': { status: 404 },
      'GET /ts': { body: 'no' },
    };
    expect(await at(answers, sense)).toEqual({
      watts: undefined,
      celsius: undefined,
      health: 'ok',
      problems: [],
    });
  });

  test('without a link to its chassis all of them are looked at', async () => {
    const answers: Answers = {
      [`GET ${system}`]: { body: { PowerState: 'On' } },
      'GET /redfish/v1/': { body: { Systems: link('/s'), Chassis: link('/c') } },
      'GET /c': members(chassis),
    };
    expect(await at(answers, sense)).toMatchObject({ watts: 210.5 });
  });

  test('an error that is no absence is one', async () => {
    expect(await failing(() => at({ 'GET /em': { status: 503 } }, sense))).toMatchObject({ code: 'busy' });
  });

  test('threads are counted where no summary does, GPUs are no CPUs', async () => {
    const answers: Answers = {
      [`GET ${system}`]: { body: { PowerState: 'On', UUID: null, Processors: link('/p') } },
      'GET /p': members('/p/1', '/p/2', '/p/3'),
      'GET /p/1': { body: { ProcessorType: 'CPU', TotalThreads: 64 } },
      'GET /p/2': { body: { ProcessorType: 'CPU', TotalThreads: 64 } },
      'GET /p/3': { body: { ProcessorType: 'GPU', TotalThreads: 1024 } },
    };
    expect(await at(answers, describeIt)).toMatchObject({ cpus: 128, gpus: 1, macAddresses: [] });
  });
});
