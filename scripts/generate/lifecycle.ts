import { initialState, lifecycle, type MachineState, states } from '../../shared/core/machine/lifecycle.ts';
import { newStatus } from '../../shared/core/machine/machine.ts';

/** Any machine will do: only the type of what happens to it is shown. */
const anybody = {
  spec: { name: '', pool: '', powerInterface: '', resources: {} },
  status: newStatus(0),
  metrics: {},
};

const transitions = states.flatMap((from) =>
  Object.entries(lifecycle[from].on).map(([event, { to, guard, ends }]) => ({
    from,
    event,
    to,
    guard,
    ends,
  })),
);

/** Mermaid takes no hyphens in an id. */
const id = (state: MachineState): string => state.replaceAll('-', '_');

const diagram = (): string[] => [
  'stateDiagram-v2',
  ...states.map((state) => `  state "${state}" as ${id(state)}`),
  `  [*] --> ${id(initialState)}`,
  ...transitions.map(({ from, event, to }) => `  ${id(from)} --> ${id(to)}: ${event}`),
];

const row = (...cells: readonly (string | undefined)[]): string =>
  `| ${cells.map((cell) => cell ?? '–').join(' | ')} |`;

const stateTable = (): string[] => [
  row('state', 'means', 'waits for', 'next step by', 'lasts at most', 'then', 'capacity'),
  row(...Array.from({ length: 7 }, () => '---')),
  ...states.map((state) => {
    const { means, waitsFor, step, deadline, capacity } = lifecycle[state];
    const then = deadline?.event(anybody, 0).type;
    return row(`**${state}**`, means, waitsFor, step, deadline?.text, then && `\`${then}\``, capacity);
  }),
];

const transitionTable = (): string[] => [
  row('from', 'event', 'to', 'only if', 'its operation ends'),
  row(...Array.from({ length: 5 }, () => '---')),
  ...transitions.map(({ from, event, to, guard, ends }) =>
    row(from, `\`${event}\``, to, guard && `\`${guard.name}\``, ends),
  ),
];

/** docs/lifecycle.md: the table in shared/core/machine/lifecycle.ts, drawn. */
export const lifecyclePage = (): string =>
  [
    '# Machine lifecycle',
    '',
    'Generated from `shared/core/machine/lifecycle.ts` by `npm run generate`. An event that is not in this table is refused with a reason.',
    '',
    '```mermaid',
    ...diagram(),
    '```',
    '',
    '## States',
    '',
    'Capacity is what a machine in this state gives the cluster: `none`, `coming`, `serving` or `leaving`. All but `none` count towards the pool’s `maxNodes`.',
    '',
    ...stateTable(),
    '',
    '## Transitions',
    '',
    'The conditions are functions in the same file. A condition that does not hold returns a reason, which appears in the log and the decision record.',
    '',
    ...transitionTable(),
    '',
  ].join('\n');
