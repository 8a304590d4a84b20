import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import { newChannelRules, type ChannelRule } from '../../../../schema/contract/channel-rules.ts';
import type { Principal } from '../../../../schema/principal.ts';
import type { ProblemDetail } from '../../../../schema/problems.ts';
import { requestProblem } from '../../../../schema/request-faults.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { parseGraphInput } from '../../../../platform/graph/parse-input.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { DataSourceStore } from '../data-sources/data-source-store.ts';
import { lateRowsOf, noticeLateRows } from '../data-sources/late-rows.ts';
import { requireSource, type SourceServices } from '../data-sources/require-source.ts';
import { replaceChannelRules } from './channel-rule-store.ts';

/** Whether the engine that reads the rows takes a regular expression. */
export type IsRegex = (accountId: string, pattern: string) => Promise<boolean>;

export interface ChannelRuleServices extends SourceServices {
  readonly jobs: Jobs;
  readonly isRegex: IsRegex;
}

export const rulesEffect = z.object({});
/** The request says what its effect was. */
export const rulesIn = (rawInput: object): readonly ChannelRule[] => parseGraphInput(newChannelRules, rawInput).rules;

/**
 * Puts rules in place of all that a source has. Stored rows stay as they are; analyses that follow late rows are looked
 * at anew.
 * @throws ProblemError `validation_error` (also `invalid_regex`), `resource_not_found`, `conflict` (sandbox_source)
 */
export async function setChannelRules(
  services: ChannelRuleServices,
  principal: Principal,
  dataSourceId: Uuid,
  rawInput: object,
  settle: Settle<z.output<typeof rulesEffect>>,
): Promise<readonly ChannelRule[]> {
  const rules = rulesIn(rawInput);
  (await requireSource(services, principal, dataSourceId)).assertChangeable();
  await refuseInvalidRegexes(services, principal, rules);
  await services.database.asTenant(principal, async (em) => {
    const source = await new DataSourceStore(em).lock(dataSourceId);
    await replaceChannelRules(em, source, rules);
    if (source.feedsRefreshes) await noticeLateRows(em, services.jobs, lateRowsOf(source));
    await settle(em, {});
  });
  return rules;
}

async function refuseInvalidRegexes(
  { isRegex }: ChannelRuleServices,
  { accountId }: Principal,
  rules: readonly ChannelRule[],
): Promise<void> {
  const known = new Map<string, boolean>();
  const errors: ProblemDetail[] = [];
  for (const [place, { match }] of rules.entries()) {
    const pattern = match.campaignRegex;
    if (pattern === undefined) continue;
    if (!known.has(pattern)) known.set(pattern, await isRegex(accountId, pattern));
    if (known.get(pattern) === false)
      errors.push({
        param: `/rules/${place}/match/campaign_regex`,
        code: 'invalid_regex',
        message: 'is not a regular expression of RE2',
      });
  }
  if (errors.length > 0) throw requestProblem('validation_error', errors);
}

/** Codes of the engine for patterns that it does not compile. */
const REFUSED_PATTERN: ReadonlySet<string> = new Set(['427']);

export function regexCheck(clickhouse: ClickHouse): IsRegex {
  return async (accountId, pattern) => {
    try {
      await clickhouse.rows(`SELECT match('', {pattern:String}) AS matched`, z.unknown(), {
        params: { account_id: accountId, pattern },
      });
      return true;
    } catch (error) {
      if (error instanceof ClickHouseError && REFUSED_PATTERN.has(error.code)) return false;
      throw error;
    }
  };
}
