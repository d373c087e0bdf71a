import { checkConfig } from '../../shared/adapters/files/config-file.ts';
import { machineProblem } from '../../shared/drivers/check-options.ts';
import { ConfigError } from '../../shared/schema/config-file.ts';
import { loadInventory } from '../../shared/state/inventory-load.ts';
import type { Deps } from '../deps.ts';

/** Loads the file or the ConfigMap when its text has changed. An invalid text changes nothing. */
export function createConfigLoader({ config, inventory, log }: Deps): () => Promise<string> {
  let loaded: string | undefined;
  let lastProblem: string | undefined;
  return async () => {
    if (!config) return 'none';
    try {
      const text = await config.read();
      if (text === loaded) return 'unchanged';
      const { machines, changed, kept, elsewhere } = await loadInventory(
        inventory.store,
        await checkConfig(text, config.name, machineProblem),
      );
      // Loaded again while removed machines have operations in progress, or while other sources have
      // precedence.
      loaded = kept.length > 0 || elsewhere.length > 0 ? undefined : text;
      lastProblem = undefined;
      if (changed > 0)
        log.info(
          { step: 'sync', machines, changed, elsewhere, text: `${config.name}: ${machines} machines` },
          'inventory loaded',
        );
      return 'loaded';
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (error.message !== lastProblem)
        log.warn(
          { problem: error.message, text: error.message },
          'the inventory cannot be loaded and stays as it was',
        );
      lastProblem = error.message;
      return error.message;
    }
  };
}
