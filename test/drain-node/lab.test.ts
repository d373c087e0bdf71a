import { drainContract } from '../contract/drain-suite.ts';
import { startLabHarness } from '../contract/lab-harness.ts';

drainContract('the lab', startLabHarness);
