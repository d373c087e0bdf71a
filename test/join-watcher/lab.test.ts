import { joinContract } from '../contract/join-suite.ts';
import { startLabHarness } from '../contract/lab-harness.ts';

joinContract('the lab', startLabHarness);
