import { serveFunction } from '../serve-function.ts';

await serveFunction('drain-node');
