import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../shared/adapters/files/config-file.ts';
import { machineProblem } from '../../shared/drivers/check-options.ts';
import { ConfigError } from '../../shared/schema/config-file.ts';
import { newFolder } from '../support/cleanup.ts';

const file = `schemaVersion: v1alpha1
pools: [{ name: closet }]
machines:
  - { name: m-1, pool: closet, powerInterface: redfish, mgmtAddress: "https://a", resources: { cpu: 1, memory: 1 } }
  - { name: m-2, pool: closet, powerInterface: redfish, mgmtAddress: "https://b", resources: { cpu: 1, memory: 1 } }
`;
let folder: string;
beforeEach(() => {
  folder = newFolder();
});

function read(text: string) {
  const path = join(folder, 'bamel.yaml');
  writeFileSync(path, text);
  return readConfig(path, machineProblem);
}

async function refusal(text: string): Promise<string> {
  const error = await read(text).catch((problem: unknown) => problem);
  expect(error).toBeInstanceOf(ConfigError);
  return String(error);
}

test('the whole file, without asking for any credentials', async () => {
  const config = await read(file.replace('mgmtAddress', 'bmcCredentials: x, mgmtAddress'));
  expect(config.machines?.map(({ name }) => name)).toEqual(['m-1', 'm-2']);
});

test('an unknown powerInterface names the machine and what there is', async () => {
  expect(await refusal(file.replace(/redfish(?=.*https:..b)/, 'redfsh'))).toMatch(
    /bamel\.yaml: m-2: no power driver is called redfsh; there are .*redfish/,
  );
});

test('a name that every object has is no powerInterface', async () => {
  expect(await refusal(file.replace('redfish', 'constructor'))).toMatch(/m-1: no power driver is called/);
});

test('wrong options of a driver name the machine and the option', async () => {
  const wrong = file.replace('powerInterface', 'redfish: { sytem: /redfish/v1/Systems/1 }, powerInterface');
  expect(await refusal(wrong)).toMatch(/bamel\.yaml: m-1: its redfish options are wrong.*sytem/s);
});

test('a driver that lacks what it needs', async () => {
  expect(await refusal(file.replace('mgmtAddress: "https://b", ', ''))).toMatch(
    /bamel\.yaml: m-2: powerInterface redfish needs mgmtAddress/,
  );
});

test('a file that is not there says who named it', async () => {
  const error = await readConfig(join(folder, 'nowhere.yaml'), machineProblem).catch(
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toMatch(/nowhere\.yaml: cannot be read .*BAMEL_CONFIG or --config/);
});
