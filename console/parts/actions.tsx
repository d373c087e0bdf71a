import { useEffect, useState } from 'preact/hooks';
import type { MachineDetail } from '../../shared/view/shapes.ts';
import { type Action, actions } from '../actions.ts';
import { post } from '../state/call.ts';
import { refresh, useApi } from '../state/resource.ts';
import type { AboutView } from '../types.ts';
import { Confirm } from './confirm.tsx';
import { LookOnly } from './look-only.tsx';

const saidForMs = 15_000;

/** What a person may do to a machine. Each is confirmed. */
export function Actions({ machine }: { readonly machine: MachineDetail }) {
  const may = useApi<AboutView>('/api/about').data.value?.may;
  const [asking, setAsking] = useState<Action>();
  const [said, setSaid] = useState<{ readonly ok: boolean; readonly text: string }>();
  // The machine's own state soon says the same.
  useEffect(() => {
    if (!said?.ok) return;
    const timer = setTimeout(() => setSaid(undefined), saidForMs);
    return () => clearTimeout(timer);
  }, [said]);
  const carryOut = async ({ path, body, title, option }: Action, ticked: boolean): Promise<void> => {
    setAsking(undefined);
    try {
      const request = { ...body(machine.name), ...(ticked && option?.adds) };
      const answer = (await post(path, request)) as { answer?: string } | undefined;
      setSaid({ ok: true, text: answer?.answer ?? `${title}: requested` });
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
          <button
            type="button"
            key={action.title}
            data-tone={action.tone}
            disabled={may !== 'act'}
            aria-describedby={may === 'read' ? 'look-only' : undefined}
            onClick={() => setAsking(action)}
          >
            {action.title}
          </button>
        ))}
      {may === 'read' && <LookOnly id="look-only" />}
      <p role="status" class={said && !said.ok ? 'problem' : 'quiet'}>
        {said?.text}
      </p>
      {asking && (
        <Confirm
          title={`${asking.title}: ${machine.name}`}
          says={asking.says}
          verb={asking.verb ?? asking.title}
          word={asking.isTyped ? machine.name : undefined}
          option={asking.option?.says}
          onYes={(ticked) => carryOut(asking, ticked)}
          onNo={() => setAsking(undefined)}
        />
      )}
    </div>
  );
}
