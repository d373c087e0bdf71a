import { allCommands, exit } from '../../cli/cli.ts';
import { kindList } from '../../cli/kinds.ts';

const code = (text: string): string => `\`${text}\``;

const meanings: Readonly<Record<keyof typeof exit, string>> = {
  done: 'done, or nothing to do',
  failed: 'failed, refused or not found; the reason is on standard error',
  usage: 'a mistake on the command line or in a checked file; nothing was changed',
};

const exitRows = Object.entries(exit).map(
  ([name, number]) => `| ${number} | ${meanings[name as keyof typeof exit]} |`,
);

const kindRows = kindList.map(
  ({ name, one, short, columns }) =>
    `| ${code(name)} | ${[one, ...short].map(code).join(', ')} | ${columns
      .map(({ title, wide }) => (wide ? `*${title.toLowerCase()}*` : title.toLowerCase()))
      .join(', ')} |`,
);

const sections = Object.entries(await allCommands()).map(
  ([name, { summary, usage }]) =>
    `### ${name}\n\n${summary[0]?.toUpperCase()}${summary.slice(1)}.\n\n\`\`\`text\nbamel ${name} ${usage}`.trimEnd() +
    '\n```\n',
);

/** docs/cli.md: every command with its options, as --help has them. */
export const cliPage = (): string => `<!-- Generated from cli/cli.ts by npm run generate. -->

# The command line

\`bamel\` works like kubectl, and as its plugin: \`kubectl bamel\`.

[Run it](#run-it) · [where it reads](#where-it-reads) · [output](#output) · [exit codes](#exit-codes) · [kinds](#kinds) · [commands](#commands)

## Run it

All pages write \`bamel COMMAND\`. In a checkout, define it once per shell:

\`\`\`sh
bamel() { npx bamel "$@"; }
\`\`\`

From a release, unpack the archive and run \`node bamel.mjs COMMAND\` with Node.js 26.

## Where it reads

Commands that read ask a host: ${code('--server')} or ${code('BAMEL_URL')}, by default ${code('http://127.0.0.1:8080')}, with the token in ${code('--token-file')} or ${code('BAMEL_TOKEN_FILE')}. With ${code('--store')}, or with ${code('BAMEL_STORE')} and no host named, they read the store directly and need no running host.

Commands that act (${['power', 'drain', 'uncordon', 'maintenance', 'retry'].map(code).join(', ')}) write an operation. The functions carry it out, and the machine's history names the caller. An embedded store belongs to its host, so the command calls the host; etcd is written directly.

## Output

${code('-o table')} is for people, ${code('wide')} has more columns, ${code('json')} and ${code('yaml')} are what [the API](console.md#api) returns (times in milliseconds, cpu in millicores, memory in bytes), ${code('name')} prints ${code('machine/NAME')} per line. One name returns one object; none or several return ${code('{"items": […]}')}. Colours are for terminals only, and off with ${code('NO_COLOR')}. Errors and progress go to standard error.

## Exit codes

| code | means |
| ---- | ----- |
${exitRows.join('\n')}

An interrupted command exits with the code of its signal (130 for Ctrl-C). An operation that it started continues.

## Kinds

Columns in italics are those of ${code('-o wide')}.

| kind | also | columns |
| ---- | ---- | ------- |
${kindRows.join('\n')}

## Commands

${sections.join('\n')}`;
