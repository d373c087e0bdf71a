import { serveFunction } from '../serve-function.ts';

await serveFunction('power-action');
