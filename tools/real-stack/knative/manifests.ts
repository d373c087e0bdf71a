import { readFileSync } from 'node:fs';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';

export type Manifest = KubernetesObject & { readonly spec?: Record<string, unknown> };

const files = ['settings', 'broker', 'services', 'triggers', 'sources'] as const;

/** The objects of a file of knative/, as they are applied. */
export function manifestsIn(file: (typeof files)[number]): Manifest[] {
  const text = readFileSync(new URL(`../../../knative/${file}.yaml`, import.meta.url), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

export const allManifests = (): Manifest[] => files.flatMap(manifestsIn);

export const ofKind = (kind: string): Manifest[] => allManifests().filter((one) => one.kind === kind);
