// Writes the files that are made from the code. `--check` writes nothing, and fails if any is out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './generate/files.ts';

const check = process.argv.includes('--check');
for (const { file, text } of generatedFiles) {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  const wanted = text();
  if (existsSync(path) && readFileSync(path, 'utf8') === wanted) continue;
  if (check) {
    console.error(`${file} is out of date: run npm run generate`);
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, wanted);
  console.log(`wrote ${file}`);
}
