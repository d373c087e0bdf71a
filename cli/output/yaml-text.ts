import { stringify } from 'yaml';

/** A file of its own, loaded when YAML is asked for. Many programs read YAML 1.1, where on and off are booleans. */
export const yamlText = (value: unknown): string =>
  stringify(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
