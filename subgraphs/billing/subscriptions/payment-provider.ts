import { ProblemError } from '../../../schema/problems.ts';
import type { PAYMENT_METHODS } from '../../../schema/value-lists.ts';
import type { Uuid } from '../../../platform/identifiers.ts';

/** How a customer wants to pay. */
export interface PaymentMethod {
  readonly type: (typeof PAYMENT_METHODS)[number];
  readonly token?: string | undefined;
}

/** What somebody is about to owe. */
export interface Order {
  readonly accountId: Uuid;
  /** The same each time that it is tried: what was accepted under it is not asked for again. */
  readonly key: string;
  readonly amountCents: bigint;
  readonly currency: string;
  readonly method: PaymentMethod;
}

/** Whoever collects money. */
export interface PaymentProvider {
  /**
   * Asks whether the customer can be charged in this way, before anything is.
   * @throws ProblemError `validation_error` for a way of paying that it does not have, `payment_required` where it is
   * refused
   */
  accept(order: Order): Promise<void>;
}

/** Whoever pays by invoice owes what the month's invoice says; nothing is asked before. */
export const invoiceProvider: PaymentProvider = {
  accept: ({ method: { type } }) => {
    if (type === 'invoice') return Promise.resolve();
    throw new ProblemError('validation_error', `payment_method.type: this installation takes invoice, not ${type}.`, {
      code: 'unsupported_payment_method',
      param: '/payment_method/type',
    });
  },
};

const FAILING_TOKEN = 'tok_fail';

/** In the sandbox every way of paying works, and one token never does. */
export const sandboxProvider: PaymentProvider = {
  accept: ({ method: { token } }) => {
    if (token !== FAILING_TOKEN) return Promise.resolve();
    throw new ProblemError('payment_required', 'The payment was refused. Try another way of paying.', {
      code: 'payment_failed',
      param: '/payment_method/token',
    });
  },
};
