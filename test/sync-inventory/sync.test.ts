import { startLabHarness } from '../contract/lab-harness.ts';
import { syncContract } from './sync-suite.ts';

syncContract('the lab', startLabHarness);
