import { commands, exit } from '../../cli/cli.ts';
import { kindList } from '../../cli/kinds.ts';

const code = (text: string): string => `\`${text}\``;

const meanings: Readonly<Record<keyof typeof exit, string>> = {
  done: 'done: what was asked for is so, or was so already',
  failed: 'it failed or was refused, or what was named is not there; why is on standard error',
  usage: 'a mistake on the command line, or in a file that was to be checked; nothing was done',
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

const sections = Object.entries(commands).map(
  ([name, { summary, usage }]) =>
    `### ${name}\n\n${summary[0]?.toUpperCase()}${summary.slice(1)}.\n\n\`\`\`text\nbamel ${name} ${usage}`.trimEnd() +
    '\n```\n',
);

/** docs/cli.md: every command with its options, as --help has them. */
export const cliPage = (): string => `<!-- Generated from cli/cli.ts by npm run generate. -->

# The command line

\`npm run bamel -- COMMAND\` in a checkout, \`node dist/bamel.mjs COMMAND\` where it was built, \`bamel COMMAND\` where the package is installed, and \`kubectl bamel COMMAND\` where \`kubectl-bamel\` is on the PATH.

[Where it looks](#where-it-looks) · [output](#output) · [exit codes](#exit-codes) · [kinds](#kinds) · [commands](#commands)

## Where it looks

Commands that look at things ask a host (${code('--server')}, ${code('BAMEL_URL')}; ${code('http://127.0.0.1:8080')} otherwise) with the token in ${code('--token-file')} or ${code('BAMEL_TOKEN_FILE')}. With ${code('--store')}, or ${code('BAMEL_STORE')} where no host is named, they read the store itself: the same views, also while nobody runs.

What is done by hand (${['power', 'drain', 'uncordon', 'maintenance', 'retry'].map(code).join(', ')}) is carried out by the functions like anything else, and kept in the machine's history with who asked. An embedded store belongs to its host, which is asked; an etcd is written to directly.

## Output

${code('-o table')} is for people, ${code('wide')} has more columns, ${code('json')} and ${code('yaml')} are what [the API](architecture.md#contract-of-a-function) answers (times in milliseconds, cpu in millicores, memory in bytes), ${code('name')} is ${code('machine/NAME')}, line by line. One name gives the thing itself, none or several ${code('{"items": […]}')}. Colours are for terminals only, and never with ${code('NO_COLOR')}. Errors and progress go to standard error.

## Exit codes

| code | means |
| ---- | ----- |
${exitRows.join('\n')}

Whoever interrupts it sees the code of their signal (130 for Ctrl-C); what was begun goes on.

## Kinds

Columns in italics are those of ${code('-o wide')}.

| kind | also | columns |
| ---- | ---- | ------- |
${kindRows.join('\n')}

## Commands

${sections.join('\n')}`;
