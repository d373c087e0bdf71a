import { serveFunction } from '../serve-function.ts';

await serveFunction('join-watcher');
