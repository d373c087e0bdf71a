import fc from 'fast-check';

/** Every run looks at the same cases, so that red means a change. BAMEL_SEED=… looks at others. */
fc.configureGlobal({ seed: Number(process.env.BAMEL_SEED ?? 20_261_116) });

export { fc };
