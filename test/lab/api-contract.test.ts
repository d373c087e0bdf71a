import { clusterContract } from '../contract/cluster-suite.ts';
import { startLabApi } from '../contract/lab-harness.ts';

clusterContract('the lab', () => startLabApi());
