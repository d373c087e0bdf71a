import { z } from 'zod';
import { MachineSpec } from './machine.ts';
import { PoolSpec } from './pool.ts';
import { Settings } from './settings.ts';

/** The YAML file: the same sections as the custom resources' specs. */
export const ConfigFile = z
  .strictObject({
    schemaVersion: z.literal('v1alpha1'),
    autoscaler: Settings.prefault({}).describe('what holds for all pools'),
    pools: z.array(PoolSpec).default([]).describe('machines scaled together'),
    machines: z.array(MachineSpec).default([]).describe('the inventory; every pool must be in pools'),
  })
  .superRefine(({ autoscaler, pools, machines }, context) => {
    const repeated = (names: readonly string[], section: string): void => {
      for (const [index, name] of names.entries())
        if (names.indexOf(name) !== index)
          context.addIssue({
            code: 'custom',
            path: [section, index, 'name'],
            message: `${name} is there twice`,
          });
    };
    repeated(
      pools.map(({ name }) => name),
      'pools',
    );
    repeated(
      machines.map(({ name }) => name),
      'machines',
    );
    const profiles = Object.keys(autoscaler.bootProfiles);
    for (const [index, { bootProfile }] of machines.entries())
      if (bootProfile !== undefined && !profiles.includes(bootProfile))
        context.addIssue({
          code: 'custom',
          path: ['machines', index, 'bootProfile'],
          message: `there is no boot profile ${bootProfile} in autoscaler.bootProfiles; there are ${profiles.join(', ') || 'none'}`,
        });
    for (const [index, { pool }] of machines.entries())
      if (!pools.some(({ name }) => name === pool))
        context.addIssue({
          code: 'custom',
          path: ['machines', index, 'pool'],
          message: `there is no pool ${pool}; there are ${pools.map(({ name }) => name).join(', ') || 'none'}`,
        });
  });

export type ConfigInput = z.input<typeof ConfigFile>;
