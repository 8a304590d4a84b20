import { referrals } from '../../schema/contract/referrals.ts';
import { operationsOf } from '../contract-operations.ts';

export const referralOperations = operationsOf(referrals);
