import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { CURRENT_PATHS } from './current-paths.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from './source-key.ts';
import { CAMPAIGN_MEMBERS, channelExpression, stepExpression, TOUCH_MEMBERS } from './channel-expression.ts';

/*
 * The tables of a source as analyses read them: their channels are called as the rules in force say. A source without
 * rules, all of whose touches name a channel, is read from the bare table. Natural keys keep the raw names: FINAL acts
 * before anything is renamed.
 */

type Final = 'FINAL' | '';

const READ_TIMEOUT_MS = 120_000;

/** Touches, under the name of their table. */
export function touchpointsOf(key: SourceKey, final: Final): string {
  return named('touchpoints', final, key, TOUCH_MEMBERS);
}

/** Spend, under the name of its table. */
export function spendOf(key: SourceKey, final: Final): string {
  return named('spend', final, key, CAMPAIGN_MEMBERS);
}

/** Conversions, under the name of their table. An empty channel says that no click is attached, and stays empty. */
export function conversionsOf(key: SourceKey, final: Final): string {
  return named('conversions', final, key, CAMPAIGN_MEMBERS, true);
}

/** Aggregated paths as they lie in the store, under the name of their table. */
export function storedPathsOf(key: SourceKey): string {
  const path = stepsIn(key);
  return path === null ? 'paths' : `(SELECT * REPLACE (${path}) FROM paths WHERE ${OF_SOURCE}) AS paths`;
}

/**
 * Aggregated paths as they count, with the columns of {@link CURRENT_PATHS}; of two that rules make equal, each is a
 * row.
 */
export function currentPathsOf(key: SourceKey): string {
  const path = stepsIn(key);
  return path === null ? CURRENT_PATHS : `(SELECT * REPLACE (${path}) FROM ${CURRENT_PATHS})`;
}

function stepsIn({ naming }: SourceKey): string | null {
  const step = naming === undefined ? null : stepExpression(naming);
  return step === null ? null : `arrayMap(step -> ${step}, path) AS path`;
}

function named(
  table: string,
  final: Final,
  { naming }: SourceKey,
  members: Parameters<typeof channelExpression>[1],
  isEmptyKept = false,
): string {
  const expression = naming === undefined ? null : channelExpression(naming, members);
  if (expression === null) return `${table} ${final}`;
  const channel = isEmptyKept ? `if(channel = '', '', ${expression.channel})` : expression.channel;
  return `(SELECT * REPLACE (toLowCardinality(${channel}) AS channel) FROM (
    SELECT *, ${expression.name} AS name FROM (
      SELECT *, ${expression.rule} AS rule, ${expression.gap} AS gap FROM (
        SELECT ${['*', ...expression.keys].join(', ')}
          FROM (SELECT ${['*', ...expression.words].join(', ')} FROM ${table} ${final} WHERE ${OF_SOURCE})
      )
    )
  )) AS ${table}`;
}

/** The same source, to be read with default channels where some of its touches came without one. */
export async function withoutGaps<Source extends SourceKey>(clickhouse: ClickHouse, source: Source): Promise<Source> {
  const rows = await clickhouse.rows(
    `SELECT 1 AS gap FROM touchpoints WHERE ${OF_SOURCE} AND channel = '' LIMIT 1`,
    z.unknown(),
    { params: sourceParams(source), timeoutMs: READ_TIMEOUT_MS },
  );
  return rows.length === 0 ? source : { ...source, naming: { rules: source.naming?.rules ?? [], fillsGaps: true } };
}
