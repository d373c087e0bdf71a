import { functionTable } from './index.ts';
import { serveAlone } from './serve-alone.ts';

/** One function of the table in a process of its own. */
export async function serveFunction(name: string): Promise<void> {
  const row = functionTable.find(({ definition }) => definition.name === name);
  if (!row) throw new Error(`there is no function ${name}`);
  await serveAlone({ name, make: (deps) => ({ functions: [row.create(deps)], routes: row.routes(deps) }) });
}
