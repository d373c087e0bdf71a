import type { ComponentChildren } from 'preact';
import type { MachineDetail } from '../../shared/view/shapes.ts';
import { bootOf } from '../boot.ts';
import { count } from '../format.ts';
import { now } from '../state/clock.ts';
import { Ago } from './ago.tsx';
import { bootText } from './unit.tsx';

/** Three independent observations. */
export function Observations({ machine }: { readonly machine: MachineDetail }) {
  const { power, bmc, node } = machine;
  const boot = bootOf(machine, now.value);
  const who = machine.made ? 'provider' : 'BMC';
  return (
    <div class="cards observations">
      <Card
        title={`Power, from the ${who}`}
        says={power.state}
        tone={power.state === 'unknown' ? 'warn' : ''}
      >
        {proofOf(power)}
      </Card>
      <Card title={who} says={answerOf(bmc)} tone={bmc.reachable === false || bmc.refused ? 'bad' : ''}>
        {machine.powerInterface} at {machine.mgmtAddress ?? 'no address'}
        {bmc.refused && (
          <>
            . {bmc.refused.message !== machine.error?.message && `${bmc.refused.message}. `}
            Next try <Ago time={bmc.refused.until} />, or when the credentials change
          </>
        )}
      </Card>
      <Card
        title="Node, from Kubernetes"
        says={node.name === undefined ? 'no node' : node.ready ? 'Ready' : 'not Ready'}
        tone={node.name !== undefined && !node.ready ? 'warn' : ''}
      >
        {node.name !== undefined && `${node.name}, ${count(node.pods ?? 0, 'pod')}. `}
        {power.state === 'off' && node.name !== undefined
          ? 'The Node object remains while the machine is off.'
          : node.problem}
        {boot && bootText(boot)}
      </Card>
    </div>
  );
}

function proofOf({ state, inferred }: MachineDetail['power']): string {
  if (state === 'unknown') return 'not read: neither on nor off is assumed';
  return inferred ? 'inferred from its node, not read' : 'two equal reads in a row';
}

function answerOf({ reachable, refused }: MachineDetail['bmc']): string {
  if (refused) return 'refuses the credentials';
  if (reachable === undefined) return 'not read yet';
  return reachable ? 'answers' : 'does not answer';
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
