import { z } from 'zod';
import { setting, wholeNumber } from './setting.ts';

const number = (least: number, most: number) =>
  wholeNumber
    .pipe(z.int().min(least, `write at least ${least}`).max(most, `write at most ${most}`))
    .optional();

/** Settings of the demo, which runs when no machines are described. */
export const demoSettings = {
  scenario: setting({
    env: 'BAMEL_DEMO_SCENARIO',
    flag: 'scenario',
    value: 'NAME',
    help: 'which demo: day · homelab · burst; default day',
    schema: z.enum(['day', 'homelab', 'burst']).optional(),
  }),
  machines: setting({
    env: 'BAMEL_DEMO_MACHINES',
    flag: 'machines',
    value: 'NUMBER',
    help: 'of the demo, 3 to 500; default 16',
    schema: number(3, 500),
  }),
  speed: setting({
    env: 'BAMEL_DEMO_SPEED',
    flag: 'speed',
    value: 'NUMBER',
    help: 'how many times faster than life the demo runs; default 20, which is a day in two minutes',
    schema: number(1, 100),
  }),
};
