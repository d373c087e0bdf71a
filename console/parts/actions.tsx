import { useState } from 'preact/hooks';
import type { MachineDetail } from '../../functions/api/shapes.ts';
import { type Action, actions } from '../actions.ts';
import { post } from '../state/call.ts';
import { refresh } from '../state/resource.ts';
import { Confirm } from './confirm.tsx';

/** What a person may do to a machine. Every one of them is asked twice. */
export function Actions({ machine }: { readonly machine: MachineDetail }) {
  const [asking, setAsking] = useState<Action>();
  const [said, setSaid] = useState<{ readonly ok: boolean; readonly text: string }>();
  const carryOut = async ({ path, body, title }: Action): Promise<void> => {
    setAsking(undefined);
    try {
      const answer = (await post(path, body(machine.name))) as { answer?: string } | undefined;
      setSaid({ ok: true, text: answer?.answer ?? `${title}: asked for` });
    } catch (error) {
      setSaid({ ok: false, text: error instanceof Error ? error.message : String(error) });
    }
    refresh();
  };
  return (
    <div class="actions">
      {actions
        .filter(({ offered }) => offered(machine))
        .map((action) => (
          <button type="button" key={action.title} data-tone={action.tone} onClick={() => setAsking(action)}>
            {action.title}
          </button>
        ))}
      <p role="status" class={said && !said.ok ? 'problem' : 'quiet'}>
        {said?.text}
      </p>
      {asking && (
        <Confirm
          title={`${asking.title}: ${machine.name}`}
          says={asking.says}
          word={machine.name}
          onYes={() => carryOut(asking)}
          onNo={() => setAsking(undefined)}
        />
      )}
    </div>
  );
}
