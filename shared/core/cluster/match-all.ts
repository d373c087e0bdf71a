import { capacityOf } from '../machine/lifecycle.ts';
import type { Machine } from '../machine/machine.ts';
import type { PoolSpec } from '../settings.ts';
import type { Node } from './cluster.ts';
import { claimOf, finder, type Match, matchWays } from './match.ts';
import { bamelKeys } from './names.ts';

/** An inconsistency between machines and nodes. It is reported, and the machines are not operated. */
export interface Finding {
  readonly kind: 'two-nodes' | 'two-machines' | 'stranger' | 'no-node';
  readonly machine?: string | undefined;
  readonly node?: string | undefined;
  readonly text: string;
}

export interface Matches {
  readonly byMachine: ReadonlyMap<string, Match>;
  /** Machines with an ambiguous node: neither matched nor missing. */
  readonly unclear: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

/** Which machine is which node, and what does not add up, in both directions. */
export function matchAll(
  machines: readonly Machine[],
  nodes: readonly Node[],
  pools: readonly PoolSpec[],
): Matches {
  const byMachine = new Map<string, Match>();
  const unclear = new Set<string>();
  const findings: Finding[] = [];
  const claims = new Map<string, { machine: string; match: Match }[]>();
  const find = finder(nodes);
  /** Which machine a node could be, matched or not. */
  const couldBe = new Map<string, string>();
  for (const machine of machines) {
    const { name } = machine.spec;
    for (const node of matchWays.flatMap((by) => find(by, machine.spec))) couldBe.set(node.name, name);
    const claim = claimOf(machine, find);
    if (!claim) continue;
    if ('node' in claim) {
      const others = claims.get(claim.node.name) ?? [];
      claims.set(claim.node.name, [...others, { machine: name, match: claim }]);
      continue;
    }
    unclear.add(name);
    findings.push({
      kind: 'two-nodes',
      machine: name,
      text: `nodes ${namesOf(claim.nodes)} both claim to be ${name} (by ${claim.by}): neither is touched. Delete the one that is wrong`,
    });
  }
  for (const [node, claimants] of claims) {
    const best = Math.min(...claimants.map(({ match }) => matchWays.indexOf(match.by)));
    const surest = claimants.filter(({ match }) => matchWays.indexOf(match.by) === best);
    const [winner] = surest;
    if (winner && surest.length === 1) byMachine.set(winner.machine, winner.match);
    else for (const { machine } of surest) unclear.add(machine);
    if (claimants.length > 1)
      for (const { machine, match } of claimants) {
        if (machine === winner?.machine && surest.length === 1) continue;
        const others = claimants.filter((one) => one.machine !== machine).map((one) => one.machine);
        findings.push({
          kind: 'two-machines',
          machine,
          node,
          text: `node ${node} is ${others.join(' or ')} as well as ${machine} (by ${match.by}): correct systemUUID, macAddress or providerID of the machines`,
        });
      }
  }
  const matched = new Set([...byMachine.values()].map(({ node }) => node.name));
  findings.push(
    ...nodes
      .filter(({ name }) => !matched.has(name))
      .flatMap((node) => stranger(node, couldBe, unclear, pools)),
    ...machines.filter((machine) => isLonely(machine, byMachine, unclear)).map(withoutNode),
  );
  return { byMachine, unclear, findings };
}

/** A node that is no machine's, though it says it is ours, or a pool says it ought to be. */
function stranger(
  { name, ready, ...node }: Node,
  couldBe: ReadonlyMap<string, string>,
  unclear: ReadonlySet<string>,
  pools: readonly PoolSpec[],
): Finding[] {
  const machine = couldBe.get(name);
  // Told already, as one of two.
  if (machine !== undefined && unclear.has(machine)) return [];
  if (machine !== undefined && !ready)
    return [
      {
        kind: 'stranger',
        machine,
        node: name,
        text: `node ${name} is left over: ${machine} is another node by now. Delete it`,
      },
    ];
  const says = whyOurs(node, pools);
  if (!says) return [];
  const text = `node ${name} ${says}, but is no machine of the inventory. Add it, or take the mark away`;
  return [{ kind: 'stranger', node: name, text }];
}

function whyOurs(
  { labels, providerID }: Pick<Node, 'labels' | 'providerID'>,
  pools: readonly PoolSpec[],
): string | undefined {
  const machine = labels[bamelKeys.machine];
  if (machine) return `is labelled as machine ${machine}`;
  if (labels[bamelKeys.pool]) return `is labelled as one of pool ${labels[bamelKeys.pool]}`;
  if (providerID?.startsWith('bamel://')) return `has the providerID ${providerID}`;
  const pool = pools.find(
    ({ nodeSelector }) =>
      Object.keys(nodeSelector).length > 0 &&
      Object.entries(nodeSelector).every(([key, value]) => labels[key] === value),
  );
  return pool && `is selected by pool ${pool.name}`;
}

/** On without use: neither booting nor quarantined, which are reported elsewhere. */
const isLonely = (
  machine: Machine,
  byMachine: ReadonlyMap<string, Match>,
  unclear: ReadonlySet<string>,
): boolean =>
  machine.status.powerState === 'on' &&
  capacityOf(machine) === 'serving' &&
  !byMachine.has(machine.spec.name) &&
  !unclear.has(machine.spec.name);

const withoutNode = ({ spec }: Machine): Finding => ({
  kind: 'no-node',
  machine: spec.name,
  text: `${spec.name} is on, but no node of the cluster is it`,
});

const namesOf = (nodes: readonly Node[]): string => nodes.map(({ name }) => name).join(' and ');
