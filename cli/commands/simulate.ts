import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { V1Pod } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { toPod } from '../../shared/adapters/kubernetes/convert.ts';
import type { Pod } from '../../shared/core/cluster/cluster.ts';
import { decide } from '../../shared/core/decide/decide.ts';
import { explainDecision } from '../../shared/core/decide/explain.ts';
import { type Command, UsageError } from '../command.ts';
import { look, lookFlags, lookUsage } from '../read-snapshot.ts';

export const simulateCommand: Command = {
  summary: 'say what would be done if there were these pods as well; nothing is done',
  usage: `-f FILE${lookUsage}
  -f, --file FILE        pods, or Deployments and the like with their replicas, as YAML`,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: { file: { type: 'string', short: 'f' }, ...lookFlags },
    });
    if (!values.file) throw new UsageError('which pods? Give -f FILE');
    const pods = readPods(await readFile(values.file, 'utf8'), values.file, Date.now());
    const { record } = await look(values, io, async (_inventory, snapshot) => {
      const given = await snapshot();
      return decide(
        { ...given, cluster: { ...given.cluster, pods: [...given.cluster.pods, ...pods] } },
        Date.now(),
      );
    });
    io.stdout.write(`With ${pods.length} more pods:\n${explainDecision(record).join('\n')}\n`);
    return 0;
  },
};

interface Manifest {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly spec?: { readonly replicas?: number; readonly parallelism?: number; readonly template?: V1Pod };
}

/** As the API server and the scheduler would have them: made, and found no node for. */
function readPods(text: string, file: string, now: number): Pod[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw new UsageError(`${file}: ${problem.message}`);
    const manifest = document.toJS() as Manifest | null;
    if (!manifest) return [];
    const { kind, metadata, spec } = manifest;
    const template = kind === 'Pod' ? (manifest as V1Pod) : spec?.template;
    if (!template?.spec)
      throw new UsageError(`${file}: ${kind ?? 'a document'} is neither a Pod nor has it a template of one`);
    const count = kind === 'Pod' ? 1 : (spec?.replicas ?? spec?.parallelism ?? 1);
    const name = metadata?.name ?? 'pod';
    return Array.from({ length: count }, (_, index) => ({
      ...toPod({
        ...template,
        metadata: {
          ...template.metadata,
          name: count === 1 ? name : `${name}-${index}`,
          namespace: metadata?.namespace ?? 'default',
          uid: `simulated-${name}-${index}`,
        },
      }),
      createdAt: now - waited,
      unschedulable: 'simulated',
    }));
  });
}

/** Longer than any window: a simulation shows the final result. */
const waited = 24 * 3_600_000;
