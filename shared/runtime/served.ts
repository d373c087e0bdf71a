import type { FunctionDefinition, Handler, ServedFunction } from './function.ts';

/** Pairs a function with its handler. The input's type ends here: only what `definition.input` parsed reaches it. */
export function served<Input>(definition: FunctionDefinition<Input>, handle: Handler<Input>): ServedFunction {
  return { definition, handle: handle as Handler };
}
