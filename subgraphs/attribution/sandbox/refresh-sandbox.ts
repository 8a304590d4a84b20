import type { ClickHouse } from '../../../platform/clickhouse/client.ts';
import { dayAfter } from '../../../schema/day-range.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { SANDBOX_ACCOUNT_ID } from '../../../schema/sandbox-sources.ts';
import type { DataSource } from '../intake/data-sources/data-source.ts';
import { DataSourceStore } from '../intake/data-sources/data-source-store.ts';
import type { RefreshSandbox } from '../intake/data-sources/require-source.ts';
import { recordSourceDays } from '../intake/data-sources/source-days.ts';
import { measureSource, purgeSource } from '../intake/touchpoints/touchpoint-store.ts';
import { FIRST_DAY, syntheticRowStatements, type DayWindow } from './synthetic-rows.ts';
import { SYNTHETIC_SHOPS, type SyntheticShop } from './synthetic-shops.ts';

/** An analysis follows people up for so long behind its range, whatever day it is asked on. */
const FOLLOW_UP_DAYS = 15;
const DAY_MS = 86_400_000;
/** Three years of a source take about a second. */
const TIMEOUT_MS = 25_000;
const SANDBOX = { accountId: SANDBOX_ACCOUNT_ID, environment: 'sandbox', workspace: null } as const;

/**
 * Keeps the rows of the synthetic sources: all since the first day when a source is first used in an installation, and
 * a month more when the follow-up of a range that ends today would reach beyond them. So a range has the same rows
 * around it on every day.
 */
export function sandboxRefresh(services: {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly clock: () => Date;
}): RefreshSandbox {
  const underWay = new Map<string, Promise<void>>();
  return async (source) => {
    const until = lastDayNeeded(services.clock());
    const shop = shopOf(source);
    if (shop === undefined || isComplete(source, until)) return false;
    const refresh =
      underWay.get(source.id) ??
      refreshSource(services, shop, source.id as Uuid, until).finally(() => underWay.delete(source.id));
    underWay.set(source.id, refresh);
    await refresh;
    return true;
  };
}

function shopOf(source: DataSource): SyntheticShop | undefined {
  return source.isSynthetic() ? SYNTHETIC_SHOPS.find(({ id }) => id === publicId('ds', source.id as Uuid)) : undefined;
}

/** The last day of the month in which a follow-up from today ends. */
function lastDayNeeded(now: Date): string {
  const followed = new Date(now.getTime() + FOLLOW_UP_DAYS * DAY_MS);
  return new Date(Date.UTC(followed.getUTCFullYear(), followed.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
}

function isComplete(source: DataSource, until: string): boolean {
  return (source.statistics?.latest ?? '') >= until;
}

/**
 * The row is locked meanwhile, so that one process makes the rows and the others find them. Whoever dies half-way is
 * repeated, which changes nothing.
 */
async function refreshSource(
  { database, clickhouse, clock }: Parameters<typeof sandboxRefresh>[0],
  shop: SyntheticShop,
  id: Uuid,
  until: string,
): Promise<void> {
  const key = { accountId: SANDBOX_ACCOUNT_ID, dataSourceId: id };
  await database.asTenant(
    SANDBOX,
    async (em) => {
      const source = await new DataSourceStore(em).lock(id);
      if (isComplete(source, until)) return;
      // Without statistics whatever is there is of an unfinished or an earlier making.
      if (source.statistics == null) await purgeSource(clickhouse, key);
      const window: DayWindow = {
        from: source.statistics?.latest == null ? FIRST_DAY : dayAfter(source.statistics.latest),
        to: until,
      };
      for (const statement of syntheticRowStatements(shop, key, window))
        await clickhouse.command(statement, { timeoutMs: TIMEOUT_MS });
      const { days, parts, identitiesDigest, ...statistics } = await measureSource(clickhouse, clock)(
        key.accountId,
        id,
      );
      const now = clock();
      // Made ahead of what a row may be dated.
      source.statistics = { ...statistics, latest: days.at(-1)?.day ?? null, duplicateRate: 0 };
      source.rowsAccepted = statistics.touchpoints + statistics.conversions + statistics.spendRows;
      source.lastSync = now;
      source.verifiedParts = parts;
      source.identitiesDigest = identitiesDigest;
      await recordSourceDays(em, { id, accountId: source.accountId }, days, now);
      await em.flush();
    },
    { timeoutMs: TIMEOUT_MS },
  );
}
