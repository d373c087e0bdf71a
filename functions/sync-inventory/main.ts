import { serveFunction } from '../serve-function.ts';
import { start } from '../start.ts';

start(() => serveFunction('sync-inventory'));
