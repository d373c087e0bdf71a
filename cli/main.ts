import { runCli } from './cli.ts';

const { argv, stdout, stderr, env } = process;
process.exitCode = await runCli(argv.slice(2), { stdout, stderr, env });
