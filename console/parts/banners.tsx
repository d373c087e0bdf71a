import { duration, moment } from '../format.ts';
import { now } from '../state/clock.ts';
import { connection, tryNow } from '../state/connection.ts';
import { useApi } from '../state/resource.ts';
import { tokenWanted } from '../state/token.ts';
import type { AboutView } from '../types.ts';

/** What makes the rest of the page unreliable. */
export function Banners() {
  const about = useApi<AboutView>('/api/about').data.value;
  return (
    <div class="banners" role="status">
      <Lost />
      {about?.cluster === false && (
        <p class="banner warn">
          The Kubernetes API server does not answer the host: pods and utilization are not known. Check the
          host's kubeconfig and network.
        </p>
      )}
      {about?.dryRun && <p class="banner">Dry run: decisions are recorded, nothing is carried out.</p>}
      {about?.caption && <p class="banner story">{about.caption}</p>}
    </div>
  );
}

function Lost() {
  const { value } = connection;
  if (value.state !== 'lost' || tokenWanted.value) return null;
  const wait = value.retryAt - Date.now();
  return (
    <p class="banner bad">
      <span>
        No connection: {value.why}. What you see is of {moment(value.since, now.value)}.
      </span>
      {/* Not read out: it changes every second. */}
      <span aria-hidden="true">{wait > 0 ? `Trying again in ${duration(wait)}.` : 'Trying again…'}</span>
      <button type="button" onClick={tryNow}>
        Try now
      </button>
    </p>
  );
}
