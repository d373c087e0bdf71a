import { serveFunction } from '../serve-function.ts';

await serveFunction('dead-letters');
