import { assertAction } from '../../schema/actions.ts';
import type { Step } from '../call.ts';

/** Refuses callers whose key does not permit the operation's action. */
export const assertScope: Step = {
  name: 'assert-scope',
  problems: ['insufficient_permissions'],
  async run(call, next) {
    const { action } = call.operation;
    if (action !== null) assertAction(call.principal, action);
    await next();
  },
};
