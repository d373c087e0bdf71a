import { SettingsError } from '../shared/runtime/flags.ts';
import { createLog } from '../shared/runtime/log.ts';
import { runSensor } from './run.ts';
import { readSensorSettings, type SensorSettings } from './settings.ts';

const settings = settingsOrExit();
const log = createLog({ level: settings.logLevel, format: settings.logFormat });
const sensor = await runSensor(settings, log);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    log.info({ signal }, 'stopping');
    void sensor.close();
  });

/** A person's mistake is told in one line, with exit code 2. */
function settingsOrExit(): SensorSettings {
  try {
    const read = readSensorSettings(process.argv.slice(2), process.env);
    if ('settings' in read) return read.settings;
    process.stdout.write(read.help);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}
