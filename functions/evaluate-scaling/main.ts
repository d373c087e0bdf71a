import { serveFunction } from '../serve-function.ts';

await serveFunction('evaluate-scaling');
