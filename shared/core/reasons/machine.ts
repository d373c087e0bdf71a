import { seconds } from '../text.ts';
import type { Coded, TextOf } from './text-of.ts';

interface Power {
  readonly power: string;
  readonly afterMs: number;
}

interface Since {
  readonly forMs: number;
}

/** Why a machine may or may not change its state, what its power waits for, and how it failed. */
export const machineTexts = {
  'operation-running': ({ operation }: { readonly operation: string }) =>
    `operation ${operation} is under way`,
  'in-maintenance': () => 'it is in maintenance',
  quarantined: ({ error }: { readonly error?: string | undefined }) =>
    `it is quarantined: ${error ?? 'its last drain was cancelled'}`,
  'stays-off': () => 'it stays off (powerState: off)',
  'stays-on': () => 'it stays on (powerState: on)',
  'cannot-power-off': () => 'its driver cannot power it off',
  'not-on-demand': () => 'it was not made on demand: off is its resting state',
  'power-differs': ({ power, needed }: { readonly power: string; readonly needed: 'on' | 'off' }) =>
    `its power is ${power}, not ${needed}`,
  'node-ready': () => 'its node is Ready',
  'node-not-ready': () => 'its node is not Ready',
  'no-node': () => 'it has no node',
  'pods-left': ({ pods }: { readonly pods?: number | undefined }) =>
    `${pods ?? 'unknown'} pods are left on it`,
  'drain-first': ({ node }: { readonly node: string }) => `node ${node} may run pods: drain it first`,
  'powered-on-by-others': () => 'the autoscaler did not power it on: it may be in use',
  'no-transition': ({ event, state }: { readonly event: string; readonly state: string }) =>
    `${event} does not apply to a machine that is ${state}`,
  'in-state': ({
    means,
    error,
  }: {
    readonly state: string;
    readonly means: string;
    readonly error?: string | undefined;
  }) => (error === undefined ? means : `${means}: ${error}`),
  'between-states': ({
    means,
    waitsFor,
  }: {
    readonly state: string;
    readonly means: string;
    readonly waitsFor: string;
  }) => `${means}; waits for ${waitsFor}`,

  'pool-undefined': ({ pool }: { readonly pool: string }) => `its pool ${pool} is not defined`,
  'left-to-cluster-autoscaler': ({ pool }: { readonly pool: string }) =>
    `pool ${pool} is left to the Cluster Autoscaler`,
  returning: () => 'it was made on demand and is being returned',
  'bmc-silent': () => 'its BMC does not answer',
  'power-not-known': ({ power, needed }: { readonly power: string; readonly needed: 'on' | 'off' }) =>
    `its power is ${power}: not known to be ${needed}`,
  unhealthy: ({ problems }: { readonly problems: string }) => `it is unhealthy: ${problems}`,
  'own-node': () => 'the autoscaler itself runs on it',
  protected: ({ by }: { readonly by: string }) => `protected by ${by}`,
  'protected-by-annotation': ({ annotation }: { readonly annotation: string }) =>
    `protected by its annotation ${annotation}`,

  uncordoned: () => 'its node was uncordoned meanwhile',
  'last-open-node': () => 'it is the last Ready node that takes pods',

  'power-unknown': () => 'power is unknown',
  'read-again': ({ power }: { readonly power: string }) => `power is ${power}; read again to confirm`,
  'command-just-sent': () => 'its BMC got a command just now',
  'off-may-come': ({ agoMs }: { readonly agoMs: number }) =>
    `an off was sent ${seconds(agoMs)} ago and may still take effect`,
  requested: ({ verb }: { readonly verb: string }) => `${verb.replace('-', ' ')} was requested`,
  'sent-again': ({ power }: { readonly power: 'on' | 'off' }) => `still ${power}: sent again`,
  'soft-off-ignored': () => 'still on: the soft off was ignored',

  'power-on-timeout': ({ power, afterMs }: Power) =>
    `power is still ${power} ${seconds(afterMs)} after power-on was requested`,
  'power-off-timeout': ({ power, afterMs }: Power) =>
    `power is still ${power} ${seconds(afterMs)} after power-off was requested`,
  'join-timeout': ({ afterMs }: { readonly afterMs: number }) =>
    `powered on, but no Ready node after ${seconds(afterMs)}`,
  'drain-timeout': ({
    pods,
    afterMs,
    waitingFor,
  }: {
    readonly pods?: number | undefined;
    readonly afterMs: number;
    readonly waitingFor?: string | undefined;
  }) =>
    `${pods ?? 'some'} pods are left after ${seconds(afterMs)}${waitingFor ? `; it waits for ${waitingFor}` : ''}`,
  'node-came-back': () => 'its node is Ready again and may run pods: it stays on',
  'power-lost': () => 'powered on, then off before its node was Ready',
  'hardware-critical': () => 'its hardware is in a critical state',

  'node-gone': ({ forMs }: Since) => `its node has been gone for ${seconds(forMs)}`,
  'node-silent': ({ forMs }: Since) => `its node has been NotReady for more than ${seconds(forMs)}`,
  'pool-waits': ({ what }: { readonly what: Coded }, textOf: TextOf) => `${textOf(what)}; its pool waits`,
  'not-power-cycled': (
    { what, because }: { readonly what: Coded; readonly because: Coded },
    textOf: TextOf,
  ) => `${textOf(what)}; not power-cycled: ${textOf(because)}`,
  'kubelet-answers': () => 'its kubelet still answers, so its pods may be running',
  'cycles-used-up': ({ cycles }: { readonly cycles: number }) =>
    `its pool has had ${cycles} power cycles within an hour (recovery.maxPerHour)`,
  'many-nodes-lost': ({ lost, of }: { readonly lost: number; readonly of: number }) =>
    `${lost} of ${of} nodes are NotReady at once: probably the network. No node is replaced or restarted until fewer are`,
};
