import type { MachineStatus } from '../../shared/core/machine/machine.ts';
import type { Store } from '../../shared/ports/store.ts';
import { parseConfig } from '../../shared/schema/config-file.ts';
import { createDeadLetters } from '../../shared/state/dead-letters.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';

const config = `
schemaVersion: v1alpha1
pools:
  - name: rack
    limits: { minNodes: 1, maxNodes: 5 }
machines:
  - { name: r-1, pool: rack, powerInterface: wol, macAddress: '52:54:00:00:00:01', resources: { cpu: 4, memory: 8Gi } }
  - { name: r-2, pool: rack, powerInterface: wol, macAddress: '52:54:00:00:00:02', resources: { cpu: 4, memory: 8Gi } }
  - { name: r-3, pool: rack, powerInterface: wol, macAddress: '52:54:00:00:00:03', resources: { cpu: 4, memory: 8Gi } }
`;

const statuses: Readonly<Record<string, Partial<MachineStatus>>> = {
  'r-1': {
    state: 'ready',
    powerState: 'on',
    nodeReady: true,
    bmcReachable: true,
    kubernetesNode: 'tower-1',
  },
  'r-2': {
    state: 'draining',
    powerState: 'on',
    bmcReachable: false,
    drain: { podsLeft: 3, podsTotal: 7 },
    refused: { until: 1, spec: 1, message: 'no' },
  },
  'r-3': { state: 'off', powerState: 'off' },
};

/** A small fleet, written straight into the store. */
export async function fleet(store: Store): Promise<void> {
  await loadInventory(store, parseConfig(config, 'test.yaml'));
  const put = (key: string, value: object) => ({
    put: `/baremetal/${key}`,
    value: JSON.stringify({ v: 1, ...value }),
  });
  await store.commit(
    [],
    [
      ...Object.entries(statuses).map(([name, status]) =>
        put(`nodes/${name}/status`, { stateSince: 1_000_000, attempts: 0, ...status }),
      ),
      put('nodes/r-1/metrics', { watts: 120, celsius: 41, health: 'ok', at: 1 }),
      put('nodes/r-3/metrics', { watts: 90, celsius: 20, at: 1 }),
      put('global/energy', {
        since: 0,
        at: 1,
        watts: 120,
        allOn: 200,
        wattHours: 10,
        wattHoursSaved: 2,
        series: [],
      }),
    ],
  );
}

export const deadLetterOf = (store: Store): Promise<void> =>
  createDeadLetters(store).add({
    event: { type: 'dev.bamel.tick.due', subject: 'everything', data: {} },
    function: 'power-action',
    lastError: 'no',
    at: 1,
  });
