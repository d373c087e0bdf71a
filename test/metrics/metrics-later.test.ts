import { createMetrics } from '../../shared/runtime/metrics.ts';
import { metricsLater } from '../../shared/runtime/metrics-later.ts';

function counted() {
  let made = 0;
  const metrics = metricsLater(() => {
    made += 1;
    return createMetrics();
  });
  const invoke = () => metrics.invocations.inc({ function: 'f', trigger: 'event', outcome: 'done' });
  const told = async () =>
    /^bamel_function_invocations_total\{.*\} (\d+)$/m.exec(await metrics.registry.metrics())?.[1];
  return { metrics, invoke, told, made: () => made };
}

test('what was counted before anybody asked is told, and so is what comes after', async () => {
  const { invoke, told, made } = counted();
  invoke();
  invoke();
  expect(made()).toBe(0);
  expect(await told()).toBe('2');
  invoke();
  expect(await told()).toBe('3');
  expect(made()).toBe(1);
});

test('an instrument that was taken before counts as well afterwards', async () => {
  const { metrics, told } = counted();
  const { invocations } = metrics;
  await told();
  invocations.inc({ function: 'f', trigger: 'event', outcome: 'done' });
  expect(await told()).toBe('1');
});

test('where nobody ever asks, nothing piles up', async () => {
  const { invoke, told, made } = counted();
  for (let times = 0; times < 1_000; times += 1) invoke();
  expect(made()).toBe(1);
  expect(await told()).toBe('1000');
});
