import { channelRules } from '../../schema/contract/channel-rules.ts';
import { operationsOf } from '../contract-operations.ts';

export const channelRuleOperations = operationsOf(channelRules);
