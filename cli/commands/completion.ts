import { didYouMean } from '../../shared/schema/did-you-mean.ts';
import { type Command, flagsOf, UsageError } from '../command.ts';
import { kindList } from '../kinds.ts';
import { outputs } from '../output/format.ts';

type Commands = Readonly<Record<string, Command>>;

export const completionCommand = (commands: () => Promise<Commands>): Command => ({
  summary: 'print what completes bamel on the command line of a shell',
  usage: `bash|zsh|fish
  bash: source <(bamel completion bash)
  zsh:  source <(bamel completion zsh)
  fish: bamel completion fish | source`,
  async run([shell, ...more], { stdout }) {
    const script = shell !== undefined && Object.hasOwn(scripts, shell) ? scripts[shell as Shell] : undefined;
    if (!script || more.length > 0)
      throw new UsageError(
        shell === undefined
          ? `for which shell? ${Object.keys(scripts).join(', ')}`
          : `there is no completion for ${shell}.${didYouMean(shell, Object.keys(scripts))} There is one for ${Object.keys(scripts).join(', ')}`,
      );
    stdout.write(script(await commands()));
    return 0;
  },
});

type Shell = keyof typeof scripts;

/** What may follow a command: words of its own, its options, or the names of machines. */
interface Follows {
  readonly words: readonly string[];
  readonly machines: boolean;
}

const kindWords = kindList.map(({ name }) => name);
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  get: kindWords,
  describe: ['machine', 'pool', 'decision', 'offer'],
  offers: ['list', 'describe', 'audit', 'keygen'],
  top: ['machines', 'pools'],
  explain: ['pod', 'machine', 'decision'],
  power: ['on', 'off', 'status'],
  maintenance: ['on', 'off'],
  deadletters: ['list', 'replay'],
  completion: ['bash', 'zsh', 'fish'],
};

const followsOf = (name: string, { usage }: Command): Follows => ({
  words: [...(wordsOf[name] ?? []), ...flagsOf(usage), '--help'],
  machines: /\bMACHINE\b/.test(usage),
});

const machinesFrom = `bamel get machines -o name 2>/dev/null | sed 's,^machine/,,'`;

const cases = (commands: Commands, line: (name: string, follows: Follows) => string): string =>
  Object.entries(commands)
    .map(([name, command]) => line(name, followsOf(name, command)))
    .join('\n');

const shellCases = (commands: Commands): string =>
  cases(
    commands,
    (name, { words, machines }) =>
      `    ${name}) after="${words.join(' ')}"${machines ? ` names="$(${machinesFrom})"` : ''} ;;`,
  );

const bash = (commands: Commands): string => `# bamel completion bash
_bamel() {
  local after="" names="" current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$COMP_CWORD:\${COMP_WORDS[1]}" in
    1:*) COMPREPLY=($(compgen -W "${Object.keys(commands).join(' ')} --help --version" -- "$current")); return ;;
  esac
  case "$previous" in
    -o|--output) COMPREPLY=($(compgen -W "${outputs.join(' ')}" -- "$current")); return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${shellCases(commands)}
  esac
  COMPREPLY=($(compgen -W "$after $names" -- "$current"))
}
complete -o default -F _bamel bamel
`;

const zsh = (commands: Commands): string => `#compdef bamel
# bamel completion zsh
_bamel() {
  local after="" names=""
  if (( CURRENT == 2 )); then
    local -a commands
    commands=(
${cases(commands, (name) => `      '${name}:${(commands[name]?.summary ?? '').replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`)}
    )
    _describe command commands
    return
  fi
  if [[ "\${words[CURRENT-1]}" == (-o|--output) ]]; then
    compadd -- ${outputs.join(' ')}
    return
  fi
  case "\${words[2]}" in
${shellCases(commands)}
  esac
  compadd -- \${=after} \${=names}
  _files
}
compdef _bamel bamel
`;

const fish = (commands: Commands): string => {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const names = Object.keys(commands).join(' ');
  const lines = cases(commands, (name, { words, machines }) =>
    [
      `complete -c bamel -n "not __fish_seen_subcommand_from ${names}" -f -a ${name} -d ${quoted(commands[name]?.summary ?? '')}`,
      `complete -c bamel -n "__fish_seen_subcommand_from ${name}" -a ${quoted(words.join(' '))}`,
      ...(machines
        ? [`complete -c bamel -n "__fish_seen_subcommand_from ${name}" -f -a "(${machinesFrom})"`]
        : []),
    ].join('\n'),
  );
  return `# bamel completion fish\n${lines}\ncomplete -c bamel -s o -l output -x -a ${quoted(outputs.join(' '))}\n`;
};

const scripts = { bash, zsh, fish };
