import { experiments } from '../../schema/contract/experiments.ts';
import { operationsOf } from '../contract-operations.ts';

export const experimentOperations = operationsOf(experiments);
