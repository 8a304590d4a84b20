import { z } from 'zod';
import type { Inspection } from '../../../../schema/contract/inspection.ts';
import { roundHalfUp } from '../../../../schema/rounding.ts';
import { RATIO_DIGITS } from '../../../../schema/shown-figures.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { Database, TenantScope } from '../../../../platform/postgres/database.ts';
import type { RecordsBody } from '../connectors/records-body.ts';
import { rememberedOptions } from '../data-sources/remembered-options.ts';
import { DataSourceStore } from '../data-sources/data-source-store.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../touchpoints/source-key.ts';
import { ratesOf } from './exchange-rates.ts';
import { assertReadable, inspectFile, warningsOf, type ReadingOptions } from './ingest-records.ts';
import type { SampledRows } from './reader/read-sample.ts';
import { MAX_CONTENT_BYTES } from './reading-limits.ts';
import type { ReadingFinding } from './reading-messages.ts';
import type { ReadingRoom } from './reading-room.ts';
import { rejectMessage } from './rejects.ts';

export interface InspectServices {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly readingRoom: ReadingRoom;
  readonly clock: () => Date;
}

const MOST_ERRORS = 100;

/**
 * Reads rows as an upload of them would, and says how they would be taken: nothing is stored, and the source does not
 * change.
 * @throws ProblemError as `receiveRecords`, but for what the file leaves open, which is among the questions
 */
export async function inspectRecords(
  services: InspectServices,
  tenant: TenantScope,
  dataSourceId: Uuid,
  records: RecordsBody,
): Promise<Inspection> {
  assertReadable(records);
  const { database, clickhouse, readingRoom: room } = services;
  const { source, remembered } = await database.asTenant(tenant, async (em) => ({
    source: await new DataSourceStore(em).require(dataSourceId),
    remembered: await rememberedOptions(em, dataSourceId, records.options),
  }));
  const leave = room.enter(tenant.accountId);
  try {
    await using file = await room.receive(tenant.accountId, records.body, MAX_CONTENT_BYTES);
    const key = { accountId: source.accountId, dataSourceId };
    const finding = await room.inTurn(file, async (size) =>
      inspectFile(file, {
        room,
        size,
        mediaType: records.mediaType,
        contentEncoding: records.contentEncoding,
        delimiter: source.delimiter ?? 'auto',
        ...(records.options === undefined ? {} : { options: records.options }),
        usualMapping: source.mapping ?? {},
        remembered,
        sourceCurrency: source.currency ?? null,
        // When it is its turn: those of a source may be many megabytes, and a hundred of an account may wait.
        rates: await ratesOf(clickhouse, key),
        now: services.clock(),
      }),
    );
    return presentFinding(finding, await joinWith(clickhouse, key, finding.sample!), remembered);
  } finally {
    leave();
  }
}

/** A dry run as it is shown, at the doors and on the command line. */
export function presentFinding(
  finding: ReadingFinding,
  join: Inspection['join'],
  remembered?: ReadingOptions['remembered'],
): Inspection {
  const { kind, preset, accepted, rejected, skipped, rejects } = finding;
  const { certainty, mapping, constants, readings, currencies, questions } = finding.inspection!;
  return {
    kind,
    preset,
    certainty,
    mapping: { ...mapping },
    constants: { ...constants },
    readings: [...readings],
    currencies: currencies.map((sum) => ({ ...sum, amount: roundHalfUp(sum.amount, 2) ?? 0 })),
    questions: questions.map(({ options, ...question }) => ({ ...question, options: [...options] })),
    sample: finding.sample!.rows.map(({ line, raw, read }) => ({ line, raw: { ...raw }, read: { ...read } })),
    accepted,
    rejected,
    skipped,
    errors: rejects
      .slice(0, MOST_ERRORS)
      .map(({ value, ...reject }) => ({ uploadId: null, ...reject, message: rejectMessage(reject.code, value) })),
    warnings: warningsOf(finding, remembered),
    join,
  };
}

const Known = z.object({ touched: z.string().array(), buying: z.string().array() });

/** How many of the sampled users are known: those of orders from touches, those of touches from orders. */
async function joinWith(
  clickhouse: ClickHouse,
  key: SourceKey,
  { userIds, buyers }: SampledRows,
): Promise<Inspection['join']> {
  if (userIds.length === 0) return { orders: null, users: null };
  const [known] = await clickhouse.rows(
    `SELECT (SELECT groupUniqArray(user_id) FROM touchpoints WHERE ${OF_SOURCE} AND user_id IN {users:Array(String)})
         AS touched,
       (SELECT groupUniqArray(user_id) FROM conversions WHERE ${OF_SOURCE} AND user_id IN {users:Array(String)})
         AS buying`,
    Known,
    { params: { ...sourceParams(key), users: userIds } },
  );
  const [touched, buying] = [new Set(known?.touched), new Set(known?.buying)];
  const hasOrders = buyers.length > 0;
  const others = hasOrders ? touched : buying;
  return {
    orders: hasOrders ? share(buyers, touched) : null,
    users: share(userIds, others),
  };
}

const share = (ids: readonly string[], known: ReadonlySet<string>): number =>
  roundHalfUp(ids.filter((id) => known.has(id)).length / ids.length, RATIO_DIGITS) ?? 0;
