import type { ComponentChildren } from 'preact';
import type { DecisionView } from '../../shared/view/shapes.ts';
import { type Candidate, fatesOf, isChosen } from '../candidates.ts';
import { count, hourly, resources, watts } from '../format.ts';
import { scoreText } from '../scores.ts';
import { MachineLink } from './links.tsx';

/** A decision in one picture: demand, candidates, chosen. */
export function Flow({ decision }: { readonly decision: DecisionView }) {
  return (
    <div class="flow">
      <Column title="Demand">
        <Demand decision={decision} />
      </Column>
      <Column title="Candidates">
        <Verdicts decision={decision} />
      </Column>
      <Column title="Chosen">
        <Chosen decision={decision} />
      </Column>
    </div>
  );
}

const Column = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section class="card">
    <h2>{title}</h2>
    {children}
  </section>
);

/** A column shows no more; the rest is counted. */
const most = 8;

function Demand({ decision: { demand, wants, unmetPods } }: { readonly decision: DecisionView }) {
  const unmet = (example: string): number => unmetPods.find(({ pod }) => pod === example)?.pods ?? 0;
  return (
    <>
      {demand.length === 0 && wants.length === 0 && <p class="quiet">No pod waits, and no signal asks.</p>}
      {demand.slice(0, most).map(({ pods, requests, example, room, served }) => (
        <div class="group" key={example}>
          <p>
            <b>{count(pods, 'pod')}</b> × {resources(requests)}
          </p>
          <Split
            parts={[
              ['room', room, 'have room'],
              ['served', served, 'get a machine'],
              ['unmet', Math.max(0, Math.min(unmet(example), pods - room - served)), 'unmet'],
            ]}
            of={pods}
          />
          <p class="quiet name">e.g. {example}</p>
        </div>
      ))}
      {demand.length > most && <p class="quiet">and {count(demand.length - most, 'other group')}</p>}
      {wants.map((want) => (
        <p key={want} class="note">
          {want}
        </p>
      ))}
    </>
  );
}

interface SplitProps {
  readonly parts: readonly (readonly [name: string, value: number, says: string])[];
  readonly of: number;
}

function Split({ parts, of }: SplitProps) {
  const shown = parts.filter(([, value]) => value > 0);
  return (
    <>
      <div class="split" aria-hidden="true">
        {shown.map(([name, value]) => (
          <span key={name} data-part={name} style={{ width: `${(value / Math.max(1, of)) * 100}%` }} />
        ))}
      </div>
      <p class="quiet">
        {shown.map(([, value, says]) => `${value} ${says}`).join(', ') || 'wait for room that is on its way'}
      </p>
    </>
  );
}

function Verdicts({ decision: { candidates } }: { readonly decision: DecisionView }) {
  const fates = fatesOf(candidates);
  const all = fates.reduce((sum, fate) => sum + fate.count, 0);
  return (
    <>
      {fates.length === 0 && <p class="quiet">No machine was considered.</p>}
      {fates.slice(0, most).map(({ verdict, why, count: machines }) => (
        <div class="group" key={`${verdict} ${why}`}>
          <p>
            <b>{machines}</b>{' '}
            <span class="verdict" data-verdict={verdict}>
              {verdict}
            </span>
          </p>
          <div class="split" aria-hidden="true">
            <span data-verdict={verdict} style={{ width: `${(machines / Math.max(1, all)) * 100}%` }} />
          </div>
          <p class="quiet">{why}</p>
        </div>
      ))}
      {fates.length > most && <p class="quiet">and {count(fates.length - most, 'other reason')}, below</p>}
    </>
  );
}

function Chosen({ decision: { candidates, at } }: { readonly decision: DecisionView }) {
  const chosen = candidates.filter(isChosen);
  return (
    <>
      {chosen.length === 0 && <p class="quiet">Nothing to do.</p>}
      {chosen.slice(0, most).map((candidate) => (
        <div class="group" key={candidate.machine}>
          <p>
            <MachineLink name={candidate.machine} />{' '}
            <span class="verdict" data-verdict={candidate.verdict}>
              {candidate.verdict}
            </span>
          </p>
          <p>{candidate.why}</p>
          <Scores candidate={candidate} at={at} />
        </div>
      ))}
      {chosen.length > most && <p class="quiet">and {count(chosen.length - most, 'other machine')}, below</p>}
    </>
  );
}

function Scores({
  candidate: { watts: drawn, price, score = {} },
  at,
}: {
  readonly candidate: Candidate;
  readonly at: number;
}) {
  const scores = Object.entries(score);
  return (
    <dl class="scores">
      {drawn !== undefined && <Score name="at most" text={watts(drawn)} />}
      {price !== undefined && <Score name="costs" text={hourly(price)} />}
      {scores.map(([policy, value]) => (
        <Score key={policy} name={policy} text={scoreText(policy, value, at)} />
      ))}
    </dl>
  );
}

const Score = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </div>
);
