import type { ComponentChildren } from 'preact';
import type { MachineDetail } from '../../functions/api/shapes.ts';
import { bootOf } from '../boot.ts';
import { now } from '../state/clock.ts';
import { bootText } from './unit.tsx';

/** Three things that are known apart, and never mixed up. */
export function Observations({ machine }: { readonly machine: MachineDetail }) {
  const { power, bmc, node } = machine;
  const boot = bootOf(machine, now.value);
  return (
    <div class="cards observations">
      <Card title="Power, says the BMC" says={power.state} tone={power.state === 'unknown' ? 'warn' : ''}>
        {power.inferred ? 'inferred from what its node does: no proof' : 'two equal reads in a row'}
      </Card>
      <Card
        title="Does the BMC answer?"
        says={bmc.reachable === undefined ? 'not asked yet' : bmc.reachable ? 'it answers' : 'it is silent'}
        tone={bmc.reachable === false ? 'bad' : ''}
      >
        {machine.powerInterface} at {machine.mgmtAddress ?? 'no address'}
      </Card>
      <Card
        title="Node, says Kubernetes"
        says={node.name === undefined ? 'no node' : node.ready ? 'Ready' : 'not Ready'}
        tone={node.name !== undefined && !node.ready ? 'warn' : ''}
      >
        {node.name !== undefined && `${node.name}, ${node.pods ?? 0} pods. `}
        {node.problem}
        {boot && bootText(boot)}
      </Card>
    </div>
  );
}

interface CardProps {
  readonly title: string;
  readonly says: string;
  readonly tone: string;
  readonly children: ComponentChildren;
}

const Card = ({ title, says, tone, children }: CardProps) => (
  <article class="card">
    <h2>{title}</h2>
    <p class="verdict" data-tone={tone}>
      {says}
    </p>
    <p class="quiet">{children}</p>
  </article>
);
