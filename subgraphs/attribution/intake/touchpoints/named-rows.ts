import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { CAMPAIGN_MEMBERS, channelExpression, stepExpression, TOUCH_MEMBERS } from './channel-expression.ts';
import { networksOf } from './default-channels.ts';
import { standsIn } from './row-versions.ts';
import { CURRENT_PATHS, currentPaths } from './current-paths.ts';
import {
  joinedKey,
  namedAlike,
  OF_SOURCE,
  ofGroup,
  sourceParams,
  sourcesOf,
  type NamedAlike,
  type OneSource,
  type SourceKey,
} from './source-key.ts';

/*
 * The tables of a source as analyses read them: their channels are called as the rules in force say, the ids of one
 * person are one, and an order that several sources tell is there once. A source without rules and identities, all of
 * whose touches name a channel, is read from the bare table. Natural keys keep the raw names: FINAL acts before
 * anything is renamed.
 */

type Final = 'FINAL' | '';

const READ_TIMEOUT_MS = 120_000;
/** More than an analysis takes. */
const MAX_SPEND_NAMES = 1_002;

/** Touches, under the name of their table. */
export function touchpointsOf(key: SourceKey, final: Final): string {
  return ofPeople('touchpoints', key, named('touchpoints', final, key, TOUCH_MEMBERS));
}

/** Spend, under the name of its table. */
export function spendOf(key: SourceKey, final: Final): string {
  return named('spend', final, key, CAMPAIGN_MEMBERS);
}

/** Conversions, under the name of their table. An empty channel says that no click is attached, and stays empty. */
export function conversionsOf(key: SourceKey, final: Final): string {
  return ofPeople('conversions', key, toldOnce(key, named('conversions', final, key, CAMPAIGN_MEMBERS, true)));
}

/** Conversions under the name of their table, each once, with the users and channels of their files. */
export function ordersOf(key: SourceKey, final: Final): string {
  return toldOnce(key, `conversions ${final}`);
}

/** Aggregated paths as they lie in the store, under the name of their table. */
export function storedPathsOf(key: SourceKey): string {
  const groups = namedAlike(key);
  if (groups.every((group) => stepsIn(group) === null)) return 'paths';
  return `${union(groups, (group, rows) => `SELECT ${stepsIn(group) ?? '*'} FROM paths WHERE ${rows}`)} AS paths`;
}

/**
 * Aggregated paths as they count, with the columns of {@link CURRENT_PATHS}; of two that rules make equal, each is a
 * row.
 */
export function currentPathsOf(key: SourceKey): string {
  const groups = namedAlike(key);
  if (groups.every((group) => stepsIn(group) === null)) return CURRENT_PATHS;
  return union(groups, (group, rows) => `SELECT ${stepsIn(group) ?? '*'} FROM ${currentPaths(rows)}`);
}

function stepsIn({ naming, prefix }: NamedAlike): string | null {
  const step = naming === undefined ? null : stepExpression(naming, prefix);
  return step === null ? null : `* REPLACE (arrayMap(step -> ${step}, path) AS path)`;
}

/** What each group of sources is read by, one below the other. */
function union(groups: readonly NamedAlike[], select: (group: NamedAlike, rows: string) => string): string {
  return groups.length === 1
    ? `(${select(groups[0]!, OF_SOURCE)})`
    : `(${groups.map((group) => select(group, ofGroup(group))).join(' UNION ALL ')})`;
}

function named(
  table: string,
  final: Final,
  key: SourceKey,
  members: Parameters<typeof channelExpression>[1],
  isEmptyKept = false,
): string {
  const groups = namedAlike(key);
  const expressionOf = ({ naming, prefix }: NamedAlike) =>
    naming === undefined ? null : channelExpression(naming, members, prefix);
  if (groups.every((group) => expressionOf(group) === null)) return `${table} ${final}`;
  const select = (group: NamedAlike, rows: string): string => {
    const expression = expressionOf(group);
    if (expression === null) return `SELECT * FROM ${table} ${final} WHERE ${rows}`;
    const channel = isEmptyKept ? `if(channel = '', '', ${expression.channel})` : expression.channel;
    const added = [...expression.words, ...expression.keys].map((column) => column.slice(column.lastIndexOf(' ') + 1));
    return `SELECT * EXCEPT (${[...added, 'rule', 'gap', 'name'].join(', ')}) REPLACE (toLowCardinality(${channel}) AS
      channel) FROM (
      SELECT *, ${expression.name} AS name FROM (
        SELECT *, ${expression.rule} AS rule, ${expression.gap} AS gap FROM (
          SELECT ${['*', ...expression.keys].join(', ')}
            FROM (SELECT ${['*', ...expression.words].join(', ')} FROM ${table} ${final} WHERE ${rows})
        )
      )
    )`;
  };
  return `${union(groups, select)} AS ${table}`;
}

const STANDS_IN = standsIn('version');
/** The order of the sources, from 0. */
const PLACE = 'toUInt8(indexOf({data_source_ids:Array(String)}, toString(data_source_id)) - 1)';
/** What several of the sources tell of one order: which ones, and the refunds of those that tell nothing else of it. */
const TOLD_BY_SEVERAL = `SELECT sipHash128(order_id) AS told,
    groupBitOrIf(bitShiftLeft(toUInt32(1), ${PLACE}), NOT (${STANDS_IN})) AS orders,
    bitAnd(groupBitOr(bitShiftLeft(toUInt32(1), ${PLACE})), bitNot(orders)) AS refunds,
    max(isNotNull(gross) AND NOT (${STANDS_IN})) AS is_lowered,
    argMinIf((revenue, version), (${PLACE}, -toInt64(version)), ${STANDS_IN}).1 AS back
  FROM conversions WHERE ${OF_SOURCE} GROUP BY told HAVING bitCount(bitOr(orders, refunds)) > 1`;
/** Orders and the places of those sources whose rows of them are left out: another one tells them before. */
const TOLD_AGAIN = `SELECT told, arrayJoin(bitPositionsToArray(if(orders = 0, bitAnd(refunds, refunds - 1),
    bitOr(bitAnd(orders, orders - 1), refunds)))) AS place FROM (${TOLD_BY_SEVERAL})`;
/** Unless a source that tells the order tells its refunds as well. */
const PAID_BACK_ELSEWHERE = `SELECT told, back FROM (${TOLD_BY_SEVERAL})
  WHERE orders > 0 AND refunds > 0 AND NOT is_lowered`;

function toldOnce({ others = [], repeatedOrders }: SourceKey, conversions: string): string {
  if (others.length === 0 || repeatedOrders === 0) return conversions;
  return `(SELECT * EXCEPT (order_hash, told, back) REPLACE (toDecimal64(revenue + back, 4) AS revenue) FROM (
      SELECT *, sipHash128(order_id) AS order_hash FROM ${conversions} WHERE ${OF_SOURCE}
        AND (order_hash, toUInt64(${PLACE})) NOT IN (SELECT told, toUInt64(place) FROM (${TOLD_AGAIN}))
    ) AS once ANY LEFT JOIN (${PAID_BACK_ELSEWHERE}) AS paid ON once.order_hash = paid.told) AS conversions`;
}

/** Ids that are one person's become one. */
function ofPeople(table: string, { people }: SourceKey, rows: string): string {
  if (people === undefined) return rows;
  return `(SELECT * EXCEPT (known_id, known_person)
      REPLACE (if(known_person = 0, user_id, concat('person-', hex(known_person))) AS user_id)
    FROM (SELECT * FROM ${rows} WHERE ${OF_SOURCE}) AS told ANY LEFT JOIN (
      SELECT id AS known_id, person AS known_person FROM people WHERE pool = {people:String}
    ) AS known ON sipHash64(told.user_id) = known.known_id) AS ${table}`;
}

/** How many orders more than one of the sources tells. */
export async function countRepeatedOrders(clickhouse: ClickHouse, key: SourceKey): Promise<number> {
  if (sourcesOf(key).length === 1) return 0;
  const [row] = await clickhouse.rows(
    `SELECT uniqExact(told) AS repeated FROM (${TOLD_BY_SEVERAL})`,
    z.object({ repeated: z.coerce.number() }),
    { params: sourceParams(key), timeoutMs: READ_TIMEOUT_MS },
  );
  return row?.repeated ?? 0;
}

/**
 * The same sources, to be read with default channels where some of their touches came without one. What advertising
 * networks sold is called as the spend on them is, whichever of the sources has it.
 */
export async function withoutGaps<Source extends SourceKey>(clickhouse: ClickHouse, source: Source): Promise<Source> {
  const read = { params: sourceParams(source), timeoutMs: READ_TIMEOUT_MS };
  const rows = await clickhouse.rows(
    `SELECT DISTINCT toString(data_source_id) AS id FROM touchpoints WHERE ${OF_SOURCE} AND channel = '' ` +
      `LIMIT ${sourcesOf(source).length}`,
    z.object({ id: z.string() }),
    read,
  );
  if (rows.length === 0) return source;
  const spend = await clickhouse.rows(
    `SELECT DISTINCT toString(channel) AS name FROM ${spendOf(source, '')} WHERE ${OF_SOURCE} LIMIT ${MAX_SPEND_NAMES}`,
    z.object({ name: z.string() }),
    read,
  );
  const networks = networksOf(spend.map(({ name }) => name));
  const gaps = new Set(rows.map(({ id }) => id));
  const filled = (one: OneSource): OneSource =>
    gaps.has(one.dataSourceId)
      ? { ...one, naming: { rules: one.naming?.rules ?? [], fillsGaps: true, networks } }
      : one;
  const [first, ...others] = sourcesOf(source).map(filled) as [OneSource, ...OneSource[]];
  return { ...source, ...joinedKey([first, ...others]) };
}
