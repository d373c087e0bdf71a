// Builds the real servers that test/real runs against, once per version: `real-stack.ts build [program…]`.
import { ensureBinaries } from '../tools/real-stack/binaries.ts';
import { programGroups } from '../tools/real-stack/table.ts';

const [command, ...names] = process.argv.slice(2);
const everything = programGroups.flatMap(({ programs }) => Object.keys(programs));
if (command !== 'build') {
  console.error('usage: node scripts/real-stack.ts build [program…]');
  process.exit(2);
}
const paths = await ensureBinaries(names.length > 0 ? names : everything, console.log);
for (const [name, path] of Object.entries(paths)) console.log(`${name}  ${path}`);
