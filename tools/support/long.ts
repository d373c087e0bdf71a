/**
 * `npm run test:all` tries generated cases in their full number, and files named *.long.test.ts; `npm test` fewer
 * cases, so that people run it.
 */
const long = process.env.BAMEL_TEST_ALL !== undefined;

/** How many generated cases a test tries. */
export const cases = (all: number, quick: number): number => (long ? all : quick);
