import type { ArmTotals, Outcome, Plan } from './simulator.ts';

/** Orders and revenue of a run, person by person; money in cents, so that sums are exact. */
export class OutcomeTally {
  orders = 0;
  cents = 0;
  readonly #isHeldOut = { people: 0, orders: 0, cents: 0 };
  readonly #others = { people: 0, orders: 0, cents: 0 };

  /** A person's totals of the window and, where there is a holdout, of its days. */
  add(whole: { orders: number; cents: number }, heldOut: boolean, inHoldout: { orders: number; cents: number }): void {
    this.orders += whole.orders;
    this.cents += whole.cents;
    const arm = heldOut ? this.#isHeldOut : this.#others;
    arm.people += 1;
    arm.orders += inHoldout.orders;
    arm.cents += inHoldout.cents;
  }

  outcome({ holdout }: Plan): Outcome {
    const outcome = { orders: this.orders, revenue: this.cents / 100 };
    const totals = ({ people, orders, cents }: { people: number; orders: number; cents: number }): ArmTotals => ({
      people,
      orders,
      revenue: cents / 100,
    });
    return holdout === undefined
      ? outcome
      : { ...outcome, arms: { heldOut: totals(this.#isHeldOut), others: totals(this.#others) } };
  }
}

/** What is lost without something: a difference of runs, summed person by person. */
export class Loss {
  #orders = 0;
  #cents = 0;

  add(orders: number, cents: number): void {
    this.#orders += orders;
    this.#cents += cents;
  }

  total(): { readonly orders: number; readonly revenue: number } {
    return { orders: this.#orders, revenue: this.#cents / 100 };
  }
}
