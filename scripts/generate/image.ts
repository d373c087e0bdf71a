import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** Unless IMG says otherwise. No registry has this name: an installation names its own. */
const standIn = `registry.example/bamel-autoscaler:${version}`;

/** Registry, with a dot, a port or the name localhost; path; tag. */
const complete = /^(?:localhost|[\w-]+[.:][\w.:-]+)\/[a-z0-9][a-z0-9/._-]*:[\w][\w.-]{0,127}$/;

/**
 * The image that manifests name. It contains all programs except the sensor, its loader and what OpenFaaS puts in front:
 * those are named after it, `registry/name-sensor:tag`.
 */
export function imageOf(
  part?: 'sensor' | 'sensor-bpf' | 'openfaas',
  image = process.env.IMG || standIn,
): string {
  if (!complete.test(image)) throw new Error(`IMG: write registry/name:tag, not "${image}"`);
  return part ? image.replace(/(?=:[^:/]+$)/, `-${part}`) : image;
}
