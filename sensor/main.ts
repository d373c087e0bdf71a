import { SettingsError } from '../shared/process/flags.ts';
import { createSensorLog } from './log.ts';
import { runSensor } from './run.ts';
import { readSensorSettings, type SensorSettings } from './settings.ts';

const settings = await settingsOrExit();
const log = createSensorLog(settings.logLevel);
const sensor = await runSensor(settings, log);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    log.info({ signal }, 'stopping');
    void sensor.close();
  });

/** A mistake in the settings is reported in one line, with exit code 2. */
async function settingsOrExit(): Promise<SensorSettings> {
  try {
    const read = await readSensorSettings(process.argv.slice(2), process.env);
    if ('settings' in read) return read.settings;
    process.stdout.write(read.help);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
