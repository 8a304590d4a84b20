import { z } from 'zod';
import { newSpendLimit, SPEND_LIMIT_DEFAULTS, type spendLimit } from '../../../schema/contract/spend-limits.ts';
import { monthOf } from '../../../schema/period.ts';
import type { Principal } from '../../../schema/principal.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { Settle } from '../../../services/idempotency/exactly-once.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { requireOwnAccount } from '../fees/own-account.ts';
import { periodFigures, shownCents } from '../fees/period-figures.ts';
import { tellOfThresholds } from './alert-spend.ts';
import { remaining, spentThisMonth, WHOLE } from './spend-limit.ts';

export interface SpendLimitServices {
  readonly database: Database;
  readonly pubSub: PubSub;
}

export const limitEffect = z.object({});
type Shown = z.output<typeof spendLimit>;
type Asked = z.output<typeof newSpendLimit>;

/**
 * Puts a limit in place of the one that the account had in this environment. Thresholds that are reached already are
 * told of at once.
 * @throws ProblemError `validation_error`, `conflict` (foreign_account)
 */
export async function setSpendLimit(
  { database, pubSub }: SpendLimitServices,
  principal: Principal,
  rawInput: object,
  settle: Settle<z.output<typeof limitEffect>>,
): Promise<Shown> {
  requireOwnAccount(principal);
  const input = parseGraphInput(newSpendLimit, rawInput);
  const accountId = principal.accountId as Uuid;
  return database.asTenant(wholeAccount(principal), async (em) => {
    await replaceSpendLimit(em, principal, input);
    const shown = await shownLimit(em, principal, input);
    if (principal.environment === 'live')
      for (const currency of [shown.currency, ...shown.otherCurrencies].toSorted())
        await tellOfThresholds(em, pubSub, accountId, currency);
    await settle(em, {});
    return shown;
  });
}

/** What an earlier attempt has answered: the request says what its effect was. */
export function recallSpendLimit(
  { database }: SpendLimitServices,
  principal: Principal,
  rawInput: object,
): Promise<Shown> {
  const input = parseGraphInput(newSpendLimit, rawInput);
  return database.asTenant(wholeAccount(principal), (em) => shownLimit(em, principal, input));
}

/** In ten thousandths of the limit, the lowest first. */
function thresholdsOf({ alertThresholds = [...SPEND_LIMIT_DEFAULTS.alertThresholds] }: Asked): readonly number[] {
  return [...new Set(alertThresholds.map((part) => Math.round(part * WHOLE)))].toSorted((one, other) => one - other);
}

/** Puts a limit in place of the one that the account had in this environment, or takes it away. */
export async function replaceSpendLimit(
  em: SqlEntityManager,
  { accountId, environment }: Pick<Principal, 'accountId' | 'environment'>,
  input: Asked,
): Promise<void> {
  const { monthlyLimitCents, action = SPEND_LIMIT_DEFAULTS.action } = input;
  if (monthlyLimitCents === null) {
    await em.execute(`delete from billing.spend_limits where environment = ?`, [environment]);
    return;
  }
  await em.execute(
    `insert into billing.spend_limits (account_id, environment, monthly_limit_cents, action, alert_thresholds)
     values (?, ?, ?, ?, ?::integer[])
     on conflict (account_id, environment) do update set monthly_limit_cents = excluded.monthly_limit_cents,
       action = excluded.action, alert_thresholds = excluded.alert_thresholds, set_at = excluded.set_at`,
    [accountId, environment, monthlyLimitCents, action, `{${thresholdsOf(input).join(',')}}`],
  );
}

async function shownLimit(em: SqlEntityManager, { environment }: Principal, input: Asked): Promise<Shown> {
  const month = monthOf(await chargingNow(em));
  const { currency, otherCurrencies } = await periodFigures(em, environment, month, input.currency);
  const spent = environment === 'live' ? await spentThisMonth(em, currency) : 0n;
  const { monthlyLimitCents, action = SPEND_LIMIT_DEFAULTS.action } = input;
  return {
    monthlyLimitCents,
    action,
    currency,
    otherCurrencies: [...otherCurrencies],
    currentSpendCents: shownCents(spent),
    remainingCents: monthlyLimitCents === null ? null : shownCents(remaining(BigInt(monthlyLimitCents), spent)),
    resetsAt: month.until,
    alertThresholds: thresholdsOf(input).map((part) => part / WHOLE),
  };
}
