import type { z } from 'zod';
import type { KindName } from '../ports/resources.ts';
import { MachineSpec } from './machine.ts';
import { PoolSpec } from './pool.ts';
import { AutoscalerStatus, NodeStatus, PoolStatus } from './resource-status.ts';
import { AutoscalerBinding } from './selector.ts';
import { Settings } from './settings.ts';

export const group = 'bamel.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** 1: with -o wide only. */
  readonly priority?: number;
  readonly description: string;
}

export interface ResourceKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly does: string;
  /** What the file has under `section`; of these, together, the spec is made. */
  readonly spec: readonly z.ZodType[];
  readonly section: string;
  readonly status: z.ZodType;
  readonly columns: readonly Column[];
}

const age: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'since it was made',
};
const why = (type: string, name: string, priority = 1): Column => ({
  name,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].message`,
  priority,
  description: 'in words for people',
});

/** Our custom resources. Their specs are the sections of the YAML file, without the name. */
export const resourceKinds = {
  autoscaler: {
    kind: 'BareMetalAutoscaler',
    plural: 'baremetalautoscalers',
    shortNames: ['bma'],
    does: 'How machines are powered on and off, and which ones.',
    spec: [Settings, AutoscalerBinding],
    section: 'autoscaler',
    status: AutoscalerStatus,
    columns: [
      { name: 'Machines', type: 'integer', jsonPath: '.status.machines', description: 'that it operates' },
      { name: 'Ready', type: 'integer', jsonPath: '.status.readyNodes', description: 'those that serve' },
      { name: 'Dry-Run', type: 'boolean', jsonPath: '.spec.dryRun', description: 'decides but does nothing' },
      {
        name: 'Unmet',
        type: 'integer',
        jsonPath: '.status.unmetPods',
        description: 'waiting pods that no machine could be powered on for',
      },
      {
        name: 'Decision',
        type: 'string',
        jsonPath: '.status.lastDecision.summary',
        priority: 1,
        description: 'the last one',
      },
      age,
    ],
  },
  pool: {
    kind: 'NodePool',
    plural: 'nodepools',
    shortNames: ['bnp'],
    does: 'Machines that are scaled together.',
    spec: [PoolSpec],
    section: 'pools[]',
    status: PoolStatus,
    columns: [
      { name: 'Ready', type: 'integer', jsonPath: '.status.readyNodes', description: 'machines that serve' },
      { name: 'Pending', type: 'integer', jsonPath: '.status.pendingNodes', description: 'on their way' },
      { name: 'Machines', type: 'integer', jsonPath: '.status.machines', description: 'that belong to it' },
      { name: 'Min', type: 'integer', jsonPath: '.spec.limits.minNodes', description: 'kept on' },
      { name: 'Max', type: 'integer', jsonPath: '.spec.limits.maxNodes', description: '0 = unbounded' },
      { name: 'Health', type: 'string', jsonPath: '.status.health', description: 'of its machines' },
      why('Deleting', 'Deleting'),
      age,
    ],
  },
  node: {
    kind: 'BareMetalNode',
    plural: 'baremetalnodes',
    shortNames: ['bmn'],
    does: 'A server that is powered on when pods need it and off when none does.',
    spec: [MachineSpec],
    section: 'machines[]',
    status: NodeStatus,
    columns: [
      { name: 'Pool', type: 'string', jsonPath: '.spec.pool', description: 'it is scaled with' },
      { name: 'State', type: 'string', jsonPath: '.status.state', description: 'in its lifecycle' },
      { name: 'Power', type: 'string', jsonPath: '.status.powerState', description: 'as its BMC says' },
      { name: 'Node', type: 'string', jsonPath: '.status.kubernetesNode', description: 'that it is' },
      { name: 'Since', type: 'date', jsonPath: '.status.stateSince', description: 'in this state' },
      { name: 'BMC', type: 'string', jsonPath: '.spec.mgmtAddress', priority: 1, description: 'its address' },
      why('Operated', 'Operated'),
      {
        name: 'Error',
        type: 'string',
        jsonPath: '.status.lastError.message',
        priority: 1,
        description: 'the last',
      },
      age,
    ],
  },
} as const satisfies Record<KindName, ResourceKind>;
