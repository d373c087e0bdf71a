import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

export const partOf = { 'app.kubernetes.io/part-of': 'bamel' } as const;
export const labelsOf = (name: string) => ({ ...partOf, 'app.kubernetes.io/name': name });

/** As the folders of images/ and config/rbac have them. */
export const imageOf = (name: string): string => `bamel-autoscaler/${name}:${version}`;
export const accountOf = (name: string): string => `bamel-${name}`;

export const settingsName = 'bamel-settings';
export const deadLetters = 'dead-letters';

/** Without a namespace: the one that everything is applied to. */
export const brokerRef = { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: 'bamel' } as const;
export const serviceRef = (name: string) => ({ apiVersion: 'serving.knative.dev/v1', kind: 'Service', name });
