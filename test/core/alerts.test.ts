import {
  alertKey,
  alertReadings,
  emptyBook,
  noteAlerts,
  silentAfterMs,
} from '../../shared/core/decide/signals/alert-book.ts';
import { type Alert, steeringOf } from '../../shared/core/decide/signals/alerts.ts';
import type { Reason } from '../../shared/core/reasons/reason.ts';
import { fc } from '../../tools/support/seeded.ts';
import { machine, minute, now, pool, serving } from './support/builders.ts';

const alert = (parts: Partial<Alert> = {}): Alert => ({
  status: 'firing',
  labels: { alertname: 'Busy', bamel_scale: 'up', pool: 'workers' },
  fingerprint: 'de6a772ee85a215f',
  startsAt: '2026-11-16T01:41:01.579Z',
  ...parts,
});

describe('which pool an alert steers', () => {
  const pools = [pool(), pool({ name: 'gpu' }), pool({ name: 'others', managedBy: 'clusterAutoscaler' })];
  const machines = [
    machine('m1'),
    serving('m2', { spec: { pool: 'gpu' }, status: { kubernetesNode: 'node-2' } }),
  ];
  test.each<[Record<string, string>, string | undefined, Reason]>([
    [
      { bamel_scale: 'up', pool: 'workers' },
      'workers',
      { code: 'steered-by-label', label: 'pool', pool: 'workers' },
    ],
    [
      { bamel_scale: 'up', bamel_pool: 'gpu', pool: 'workers' },
      'gpu',
      { code: 'steered-by-label', label: 'bamel_pool', pool: 'gpu' },
    ],
    [
      { bamel_scale: 'up', node: 'node-2' },
      'gpu',
      { code: 'steered-by-node', node: 'node-2', machine: 'm2' },
    ],
    [{ bamel_scale: 'wake', pool: 'workers' }, undefined, { code: 'scale-label', scale: 'wake' }],
    [{ pool: 'workers' }, undefined, { code: 'no-scale-label' }],
    [{ bamel_scale: 'down', pool: 'workers' }, undefined, { code: 'scale-label', scale: 'down' }],
    [{ bamel_scale: 'UP', pool: 'workers' }, undefined, { code: 'scale-label', scale: 'UP' }],
    [{ bamel_scale: 'up' }, undefined, { code: 'no-pool-label' }],
    [{ bamel_scale: 'up', pool: 'workesr' }, undefined, { code: 'no-such-pool', pool: 'workesr' }],
    [{ bamel_scale: 'up', node: 'stranger' }, undefined, { code: 'node-of-no-machine', node: 'stranger' }],
    [
      { bamel_scale: 'up', pool: 'others' },
      undefined,
      { code: 'left-to-cluster-autoscaler', pool: 'others' },
    ],
  ])('%j → %s', (labels, steered, reason) => {
    expect(steeringOf(alert({ labels }), pools, machines)).toEqual({
      ...(steered !== undefined && { pool: steered }),
      why: expect.any(String),
      reason: steered === undefined ? { code: 'only-wakes', because: reason } : reason,
    });
  });
});

describe('the book of alerts', () => {
  const poolOf = ({ labels }: Alert) => (labels.bamel_scale === 'up' ? labels.pool : undefined);
  const resolved = (one: Alert): Alert => ({ ...one, status: 'resolved' });
  const noted = (alerts: readonly Alert[], at = now) => noteAlerts(emptyBook, alerts, poolOf, at);

  test('an alert is news once; its next episode is news again', () => {
    const first = noted([alert(), alert()]);
    expect(first.fresh).toBe(1);
    expect(noteAlerts(first.book, [alert()], poolOf, now + 1)).toEqual({ book: first.book, fresh: 0 });
    const next = alert({ startsAt: '2026-11-16T02:00:00Z' });
    expect(noteAlerts(first.book, [next], poolOf, now + 1).fresh).toBe(1);
  });

  test('that one is over is no news', () => {
    expect(noted([resolved(alert())]).fresh).toBe(0);
  });

  test('it counts while it is repeated, and is over when nobody speaks of it any more', () => {
    let { book } = noted([alert()]);
    const end = now + 60 * minute;
    for (let at = now; at <= end; at += 5 * minute) book = noteAlerts(book, [alert()], poolOf, at).book;
    expect(alertReadings(book, end + silentAfterMs - 1)).toEqual([
      { pool: 'workers', alert: 'Busy', since: now, endedAt: undefined },
    ]);
    expect(alertReadings(book, end + silentAfterMs)).toMatchObject([{ endedAt: end + silentAfterMs }]);
  });

  test('a late copy does not bring back what is over', () => {
    const over = noteAlerts(noted([alert()]).book, [resolved(alert())], poolOf, now + minute).book;
    const late = noteAlerts(over, [alert()], poolOf, now + 5 * minute).book;
    expect(alertReadings(late, now + 5 * minute)).toMatchObject([{ endedAt: now + minute }]);
  });

  test('an episode that follows closely is the same trouble: it goes on since the first', () => {
    const over = noteAlerts(noted([alert()]).book, [resolved(alert())], poolOf, now + minute).book;
    const again = (at: number) =>
      alertReadings(noteAlerts(over, [alert({ startsAt: '2026-11-16T02:00:00Z' })], poolOf, at).book, at);
    expect(again(now + 2 * minute)).toMatchObject([{ since: now, endedAt: undefined }]);
    const late = now + minute + silentAfterMs;
    expect(again(late)).toMatchObject([{ since: late, endedAt: undefined }]);
  });

  test('only what steers is kept by name; everything is forgotten in time', () => {
    const { book } = noted([alert({ labels: { alertname: 'ForPeople' } })]);
    expect(book.steers).toEqual({});
    expect(Object.keys(book.seen)).toHaveLength(1);
    const later = noteAlerts(book, [alert()], poolOf, now + 24 * 60 * minute).book;
    expect(Object.keys(later.seen)).toEqual([alertKey(alert())]);
  });

  test('it stays small, and the newest are kept', () => {
    const storm = Array.from({ length: 5_000 }, (_, index) => alert({ fingerprint: index.toString(16) }));
    let { book } = noted(storm);
    expect(Object.keys(book.seen)).toHaveLength(1_000);
    expect(Object.keys(book.steers)).toHaveLength(200);
    book = noteAlerts(book, [alert({ fingerprint: 'ffffff' })], poolOf, now + 1).book;
    expect(book.steers).toHaveProperty('ffffff');
    expect(Object.keys(book.steers)).toHaveLength(200);
  });

  test('fault 22: in whatever order copies come, what is over stays over, and what fires is heard', () => {
    const second = alert({ startsAt: '2026-11-16T02:00:00Z' });
    const copies = [alert(), alert(), resolved(alert()), second, resolved(second)];
    fc.assert(
      fc.property(fc.shuffledSubarray(copies, { minLength: 1 }), (heard) => {
        const { book } = heard.reduce(
          ({ book: before }, one, index) => noteAlerts(before, [one], poolOf, now + index * 2 * minute),
          noteAlerts(emptyBook, [], poolOf, now),
        );
        const keys = heard.map(alertKey);
        const open = Object.values(book.steers)
          .filter(({ endedAt }) => endedAt === undefined)
          .map(({ startsAt }) => startsAt);
        for (const { startsAt } of [alert(), second].filter((one) => keys.includes(alertKey(resolved(one)))))
          expect(open).not.toContain(startsAt);
        const latest = heard.includes(second) ? second : alert();
        if (keys.includes(alertKey(latest)) && !keys.includes(alertKey(resolved(latest))))
          expect(open).toEqual([latest.startsAt]);
      }),
    );
  });
});
