// What a container starts: `main.mjs [NAME] [ARGUMENTS]`. NAME is host, bamel (the command), a function, console or
// cluster-autoscaler. Without it BAMEL_FUNCTION names the program; without either it is the host.
const [first = '-'] = process.argv.slice(2);
const isNamed = !first.startsWith('-');
const name = isNamed ? first : process.env.BAMEL_FUNCTION || 'host';
const isProgram = name === 'host' || name === 'bamel';
// function.mjs reads the name itself, by the same rule.
if (isNamed && isProgram) process.argv.splice(2, 1);
await import(`./${isProgram ? name : 'function'}.mjs`);
