import { serveFunction } from '../serve-function.ts';

await serveFunction('sync-inventory');
