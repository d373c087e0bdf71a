import type { Finding } from '../../shared/core/cluster/match-all.ts';
import type { Deps } from '../deps.ts';

/** Reports inconsistencies between machines and nodes: once each, until they are resolved. */
export function createFindingReporter({
  log,
  cluster,
}: Deps): (findings: readonly Finding[]) => Promise<void> {
  let reported = new Set<string>();
  return async (findings) => {
    const news = findings.filter(({ text }) => !reported.has(text));
    reported = new Set(findings.map(({ text }) => text));
    for (const { kind, machine, node, text } of news) {
      log.warn({ step: 'join', kind, machine, node, text }, 'machines and nodes do not add up');
      if (node)
        await cluster.recordEvent(
          { kind: 'Node', name: node },
          'Warning',
          'MachineUnclear',
          `bamel: ${text}`,
        );
    }
  };
}
