import fc from 'fast-check';
import { openEconomy, type Economy, type Member, type StoredCommission } from '../economy.ts';
import { sized } from '../../../run-length.ts';

const HISTORIES = sized({ short: 30, long: 400 });
/** Basis points by active referrals of the first step (contract §2, listing A). */
const RATES = [
  { from: 20, l1: 1_500, l2: 500 },
  { from: 5, l1: 1_200, l2: 300 },
  { from: 0, l1: 1_000, l2: 200 },
];

let economy: Economy;
beforeAll(async () => {
  economy = await openEconomy();
});
afterEach(() => economy.clock.run());
afterAll(() => economy?.close());

/** Half up, as the contract says, in decimal digits rather than by the code under test. */
const halfUp = (numerator: bigint, denominator: bigint): bigint => (numerator * 2n + denominator) / (denominator * 2n);
const feeOf = (deltaRCents: number): bigint => {
  const five = halfUp(BigInt(deltaRCents) * 5n, 100n);
  return five > 10n ? five : 10n;
};

interface Referral {
  readonly referrer: number;
  readonly referred: number;
  readonly depth: 1 | 2;
  status: 'pending' | 'active' | 'churned';
  cents: number;
  activatedDay: number;
  lastDay: number;
}
interface Entry {
  readonly agent: number;
  readonly type: string;
  readonly cents: number;
  readonly source: number;
  readonly day: number;
  readonly payableDay: number;
  reversed: boolean;
  paid: boolean;
}

/** What the rules of the contract make of a history, written from the contract alone. */
class Model {
  readonly referrals: Referral[] = [];
  readonly entries: Entry[] = [];
  readonly gone = new Map<number, 'closed' | 'suspended'>();
  fees = 0n;
  paid = 0n;

  constructor(referredBy: readonly (number | null)[]) {
    referredBy.forEach((referrer, referred) => {
      if (referrer === null) return;
      const fresh = { status: 'pending', cents: 0, activatedDay: 0, lastDay: 0 } as const;
      this.referrals.push({ referrer, referred, depth: 1, ...fresh });
      const further = referredBy[referrer] ?? null;
      if (further !== null) this.referrals.push({ referrer: further, referred, depth: 2, ...fresh });
    });
  }

  analyse(day: number, payer: number | 'brand', by: number, deltaRCents: number): void {
    const fee = feeOf(deltaRCents);
    this.fees += fee;
    const own = this.referrals.filter(({ referred }) => referred === by);
    for (const referral of own.filter(({ status }) => status !== 'churned')) {
      referral.cents += deltaRCents;
      referral.lastDay = day;
      if (referral.status === 'pending' && referral.cents >= 100_000)
        Object.assign(referral, { status: 'active', activatedDay: day });
    }
    const earn = (agent: number, type: string, rate: number, waits: number): void => {
      const cents = Number(halfUp(fee * BigInt(rate), 10_000n));
      if (cents > 0 && !this.gone.has(agent))
        this.entries.push({
          agent,
          type,
          cents,
          source: by,
          day,
          payableDay: day + waits,
          reversed: false,
          paid: false,
        });
    };
    if (payer !== by) earn(by, 'brand_serving', 2_000, 0);
    for (const { referrer, depth, status, activatedDay } of own) {
      if (status !== 'active' || day - activatedDay >= 365) continue;
      const rate = RATES.find(({ from }) => this.#active(referrer) >= from)!;
      earn(referrer, `l${depth}_referral`, depth === 1 ? rate.l1 : rate.l2, 90);
    }
  }

  churn(day: number): void {
    for (const referral of this.referrals) {
      const isOver = this.gone.has(referral.referred) || (referral.status === 'active' && day - referral.lastDay >= 90);
      if (referral.status === 'churned' || !isOver) continue;
      referral.status = 'churned';
      for (const entry of this.entries.filter(
        ({ agent, type, source, payableDay, reversed }) =>
          agent === referral.referrer &&
          type.endsWith('_referral') &&
          source === referral.referred &&
          payableDay > day &&
          !reversed,
      )) {
        entry.reversed = true;
        this.entries.push({ ...entry, type: 'clawback', cents: -entry.cents, reversed: false, paid: false });
      }
    }
  }

  payOut(beforeDay: number): void {
    for (const entry of this.entries)
      if (entry.type !== 'clawback' && !entry.reversed && !entry.paid && entry.payableDay < beforeDay)
        if (this.gone.get(entry.agent) !== 'suspended') {
          entry.paid = true;
          this.paid += BigInt(entry.cents);
        }
  }

  #active(agent: number): number {
    return this.referrals.filter(
      ({ referrer, depth, status }) => referrer === agent && depth === 1 && status === 'active',
    ).length;
  }
}

const AGENTS = 5;
const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      what: fc.constant('analyse' as const),
      by: fc.nat(AGENTS - 1),
      own: fc.boolean(),
      cents: fc.oneof(fc.nat(1_000), fc.nat(300_000), fc.nat(10 ** 12)),
    }),
  },
  { weight: 5, arbitrary: fc.record({ what: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 100 }) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('churn' as const) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('month' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('leave' as const),
      who: fc.nat(AGENTS - 1),
      status: fc.constantFrom('closed' as const, 'suspended' as const),
    }),
  },
);
/** Whom an agent was referred by: one that came before it. */
const tree = fc.tuple(...Array.from({ length: AGENTS }, (_, index) => fc.option(fc.nat(Math.max(0, index - 1)))));

test('whatever happens in whatever order, ledgers, payouts and books are what the contract makes of it', async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.array(step, { minLength: 1, maxLength: 25 }), async (parents, story) => {
      const referredBy = parents.map((parent, index) => (index === 0 ? null : parent));
      const model = new Model(referredBy);
      const members: Member[] = [];
      // The day of a history that nobody else's has reached: payouts of a month are made once.
      const start = new Date(Date.UTC(2100, 0, 1, 12));
      let day = 0;
      const at = (days: number): Date => new Date(start.getTime() + days * 86_400_000);
      const goTo = () => economy.clock.stopAt(at(day));
      await goTo();
      for (const parent of referredBy) members.push(await economy.agent(parent === null ? undefined : members[parent]));
      const brand = await economy.brand();
      for (const each of story) {
        switch (each.what) {
          case 'wait':
            day += each.days;
            await goTo();
            break;
          case 'churn':
            await economy.churn();
            model.churn(day);
            break;
          case 'month': {
            const month = `${at(day).toISOString().slice(0, 7)}-01`;
            await economy.payOut(month);
            model.payOut((Date.parse(`${month}T00:00:00Z`) - start.getTime()) / 86_400_000);
            break;
          }
          case 'leave':
            if (model.gone.has(each.who)) break;
            await economy.setStatus(members[each.who]!, each.status);
            model.gone.set(each.who, each.status);
            break;
          default: {
            const by = members[each.by]!;
            await economy.analyse(each.own ? by.accountId : brand, by, each.cents);
            model.analyse(day, each.own ? each.by : 'brand', each.by, each.cents);
          }
        }
      }
      for (const [index, member] of members.entries()) {
        const entries = await economy.commissions(member);
        const expected = model.entries.filter(({ agent }) => agent === index);
        expect(entries.map(outline).toSorted()).toEqual(
          expected
            .map((entry) => `${entry.type} ${entry.cents} ${members[entry.source]!.agentId} ${entry.paid}`)
            .toSorted(),
        );
        const owed = expected.filter(({ paid }) => !paid).reduce((sum, { cents }) => sum + BigInt(cents), 0n);
        expect(-(await economy.balance(member.accountId, 'payable'))).toBe(owed);
      }
      const commissions = model.entries.reduce((sum, { cents }) => sum + BigInt(cents), 0n);
      // Of its own transfers alone: a payday pays what earlier histories have left, too.
      expect(await house([brand, ...members.map(({ accountId }) => accountId)])).toEqual({
        fees: -model.fees,
        commissions,
        cash: -model.paid,
      });
    }),
    { numRuns: HISTORIES },
  );
}, 900_000);

const outline = ({ type, cents, source, isPaid }: StoredCommission): string => `${type} ${cents} ${source} ${isPaid}`;
/** What these accounts have moved of the accounts of the house, added up from transfers. */
async function house(accounts: readonly string[]): Promise<Readonly<Record<string, bigint>>> {
  const { rows } = await economy.owner.query<{ kind: string; cents: string }>(
    `select kind, coalesce(sum(case ledger.id when transfer.debit then amount_cents else -amount_cents end), 0) as cents
     from unnest(array['fees', 'commissions', 'cash']) kind
     left join billing.ledger_accounts ledger using (kind)
     left join billing.transfers transfer
       on ledger.id in (transfer.debit, transfer.credit) and transfer.account_id = any($1::uuid[])
     group by kind`,
    [accounts],
  );
  return Object.fromEntries(rows.map(({ kind, cents }) => [kind, BigInt(cents)]));
}
