import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';

const folder = 'config/prometheus';
const groupsOf = (file: string): unknown[] =>
  parse(readFileSync(new URL(`../../${folder}/${file}`, import.meta.url), 'utf8')).groups;

/** The rules as the Prometheus Operator wants them. */
export const prometheusRule = {
  file: `${folder}/prometheus-rule.yaml`,
  text: (): string => {
    const resource = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'bamel', namespace: 'bamel', labels: { 'app.kubernetes.io/part-of': 'bamel' } },
      spec: { groups: ['recording-rules.yaml', 'alert-rules.yaml'].flatMap(groupsOf) },
    };
    return `# Generated from recording-rules.yaml and alert-rules.yaml by npm run generate.\n${stringify(resource, { lineWidth: 0 })}`;
  },
};
