/** One folder of the tree: what its files may import, besides files of the folder itself. */
export interface Layer {
  /** The files that it is about: a folder, or one file. The longest match counts. */
  readonly path: string;
  readonly imports: readonly string[];
  /** Packages and Node.js modules; every one unless listed. */
  readonly packages?: readonly string[];
  /** True: each folder in it is a layer of its own, and they do not import each other. */
  readonly apart?: true;
}

const foundation = [
  'shared/core',
  'shared/ports',
  'shared/schema',
  'shared/http',
  'shared/crypto',
  'shared/process',
];
const shared = [
  ...foundation,
  'shared/state',
  'shared/adapters',
  'shared/drivers',
  'shared/server',
  'shared/view',
  'shared/by-hand',
];
const product = [...shared, 'functions', 'apps', 'cli', 'sensor', 'package.json'];
const workshop = [...product, 'simulator', 'tools', 'scripts', 'bench', 'console'];

/** The whole tree from the bottom up. A layer imports only from layers above its own row. */
export const layers: readonly Layer[] = [
  { path: 'shared/core', imports: ['shared/core/limits/cron.ts'], packages: [] },
  // It is given the time, and reads no clock.
  { path: 'shared/core/limits/cron.ts', imports: ['shared/core'], packages: ['croner'] },
  { path: 'shared/ports', imports: ['shared/core'], packages: ['zod'] },
  { path: 'shared/schema', imports: ['shared/core', 'shared/ports'] },
  { path: 'shared/http', imports: ['shared/core', 'shared/ports', 'shared/schema'] },
  { path: 'shared/crypto', imports: [] },
  { path: 'shared/process', imports: foundation },
  { path: 'shared/state', imports: foundation },
  { path: 'shared/drivers', imports: [...foundation, 'shared/drivers/wol/companion.ts'], apart: true },
  // Powers a machine off through another driver.
  { path: 'shared/drivers/wol/companion.ts', imports: [...foundation, 'shared/drivers'] },
  { path: 'shared/drivers/check-options.ts', imports: [...foundation, 'shared/drivers'] },
  { path: 'shared/drivers/index.ts', imports: [...foundation, 'shared/drivers'] },
  { path: 'shared/adapters', imports: [...foundation, 'shared/state'] },
  { path: 'shared/server', imports: [...foundation, 'shared/adapters'] },
  {
    path: 'shared/view',
    imports: [...foundation, 'shared/state', 'shared/adapters', 'shared/server', 'package.json'],
  },
  { path: 'shared/by-hand', imports: [...foundation, 'shared/state'] },
  { path: 'functions', imports: shared, apart: true },
  { path: 'functions/index.ts', imports: [...shared, 'functions'] },
  { path: 'apps', imports: [...shared, 'functions', 'package.json'], apart: true },
  { path: 'apps/host', imports: [...shared, 'functions', 'apps', 'package.json'] },
  { path: 'apps/main.ts', imports: [...shared, 'apps', 'simulator'] },
  { path: 'apps/function.ts', imports: [...shared, 'functions', 'apps'] },
  { path: 'simulator/replay', imports: foundation },
  { path: 'cli', imports: [...shared, 'simulator/replay', 'package.json'] },
  { path: 'sensor', imports: foundation },
  { path: 'console', imports: ['shared/view', 'shared/core', 'shared/schema'] },
  { path: 'simulator', imports: product },
  { path: 'tools', imports: workshop },
  { path: 'scripts', imports: workshop },
  { path: 'bench', imports: workshop },
  { path: 'test', imports: workshop },
];

/** Types that two files need of each other, and why. By value nothing may import in a circle. */
export const typeCircles: readonly (readonly [file: string, imports: string, why: string])[] = [
  [
    'shared/core/machine/lifecycle.ts',
    'shared/core/machine/machine.ts',
    'the states are the keys of the table, and its rows are functions of a machine',
  ],
  [
    'shared/core/simulate/spread.ts',
    'shared/core/simulate/pod-terms.ts',
    'a selector counts for groups of spread constraints, which have a selector',
  ],
  [
    'simulator/lab/api/admission.ts',
    'simulator/lab/api/store.ts',
    'admission looks other objects up in the store that asks it',
  ],
  ...['fault', 'faults', 'reset'].map(
    (file) =>
      [
        `simulator/lab/rack/${file}.ts`,
        'simulator/lab/rack/machine.ts',
        'a fault changes what the machine that has it does and shows',
      ] as const,
  ),
  [
    'simulator/lab/rack/fault.ts',
    'simulator/lab/rack/resources.ts',
    'a fault changes what the machine that has it does and shows',
  ],
];
