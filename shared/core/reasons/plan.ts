import { money, plural, seconds } from '../text.ts';
import { percent } from './limits.ts';
import type { Coded, TextOf } from './text-of.ts';

const pods = (count: number): string => `${count} ${plural(count, 'pod')}`;
const fitElsewhere = (count: number): string => (count > 0 ? `: its ${pods(count)} fit elsewhere` : '');

/** Why a machine is powered on, drained, replaced, kept or left off, and why pods are not served. */
export const planTexts = {
  'not-needed': () => 'not needed',
  'holds-pods': ({ pods: some, waiting }: { readonly pods: number; readonly waiting: number }) =>
    `holds ${some} of ${waiting} waiting ${plural(waiting, 'pod')}`,
  'drain-cancelled': ({ pods: some }: { readonly pods: number }) =>
    `${some} waiting ${plural(some, 'pod')} can use it`,
  'no-machine-for': ({ want }: { readonly want: Coded }, textOf: TextOf) =>
    `no machine available: ${textOf(want)}`,
  /** A slice of an offer, or more of it. */
  'at-price': (
    {
      because,
      offer,
      price,
    }: { readonly because: Coded; readonly offer?: string | undefined; readonly price: number },
    textOf: TextOf,
  ) =>
    `${textOf(because)}, ${offer === undefined ? `enlarged for ${money(price)} per hour more` : `from offer ${offer} for ${money(price)} per hour`}`,

  idle: ({ forMs, pods: some }: { readonly forMs: number; readonly pods: number }) =>
    `not needed for ${seconds(forMs)}${fitElsewhere(some)}`,
  'set-off': ({ pods: some }: { readonly pods: number }) => `set off (powerState: off)${fitElsewhere(some)}`,
  'in-use': ({ use, pod }: { readonly use: number; readonly pod: string }) =>
    `${percent(use)} in use (e.g. by ${pod})`,
  unproven: ({ machine }: { readonly machine: string }) =>
    `not yet proven to power on again: bamel test-power ${machine}`,
  'pods-expected': () => 'pods are expected on it',
  'pod-fits-nowhere': ({ pod }: { readonly pod: string }) => `${pod} runs on it and fits nowhere else`,
  'idle-too-short': ({ forMs }: { readonly forMs: number }) =>
    `not needed, but for less than ${seconds(forMs)}`,
  'boot-costs-more': ({ forMs }: { readonly forMs: number }) =>
    `not needed, but booting it again costs more than ${seconds(forMs)} of idling`,
  'strands-pods': () =>
    'its pods fit elsewhere, but beside those of other machines that leave now only in some orders',
  'node-missing': () => 'its node is not in the cluster',
  'node-unknown': () => 'its node is not Ready: what runs on it is unknown',

  replaces: ({
    machine,
    watts,
    instead,
  }: {
    readonly machine: string;
    readonly watts?: number | undefined;
    readonly instead?: number | undefined;
  }) =>
    `replaces ${machine}${watts === undefined || instead === undefined ? '' : `: about ${Math.round(watts)} W instead of ${Math.round(instead)} W`}`,
  'replaced-by': ({ by }: { readonly by: readonly string[] }) =>
    `${by.join(', ')} ${by.length === 1 ? 'replaces' : 'replace'} it once Ready`,
  'fits-on-coming': ({ on }: { readonly on: readonly string[] }) =>
    `its pods fit on ${on.join(', ')}: kept until that is Ready`,
  'replacement-waits': ({ by, because }: { readonly by: string; readonly because: Coded }, textOf: TextOf) =>
    `${by} could replace it, but: ${textOf(because)}`,
  'replacement-after-drains': ({ by }: { readonly by: string }) =>
    `${by} could replace it once other drains have ended`,

  'room-taken': () => 'its room is taken by other pods',
  'no-machines': () => 'there are no machines in the inventory',
  'waits-too-short': ({ ms }: { readonly ms?: number | undefined }) =>
    `it has not waited long enough yet (${ms === undefined ? 'its own scale-up delay' : seconds(ms)})`,
  'no-machine-fits': (
    {
      machines,
      reasons,
    }: {
      readonly machines: number;
      readonly reasons: readonly { readonly count: number; readonly reason: Coded }[];
    },
    textOf: TextOf,
  ) =>
    `0 of ${machines} ${plural(machines, 'machine')} can run it (${reasons.map(({ count, reason }) => `${count}: ${textOf(reason)}`).join('; ')})`,
  'nor-offers': (
    {
      because,
      offers,
    }: {
      readonly because: Coded;
      readonly offers: readonly { readonly offer: string; readonly reason: Coded }[];
    },
    textOf: TextOf,
  ) =>
    [textOf(because), ...offers.map(({ offer, reason }) => `offer ${offer}: ${textOf(reason)}`)].join('; '),
  'more-groups': ({ groups }: { readonly groups: number }) => `${groups} more kinds of pods are not served`,
};
