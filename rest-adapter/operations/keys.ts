import { keys } from '../../schema/contract/keys.ts';
import { operationsOf } from '../contract-operations.ts';

export const keyOperations = operationsOf(keys);
