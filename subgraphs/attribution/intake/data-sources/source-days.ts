import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { dayAt, EARLIEST_DAY } from '../../../../schema/day-range.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { DateRange } from './date-range.ts';

/** The rows of one UTC day of a source, whatever their kind. */
export interface StoredDay {
  /** `YYYY-MM-DD`; {@link UNDATED} for paths without a date. */
  readonly day: string;
  readonly rows: number;
  /** Steps of the aggregated paths among them: reading one takes as much as reading a touch. */
  readonly pathSteps: number;
  /** Sums of the rows' hashes, so that their order does not matter; changes when any natural key or value does. */
  readonly digest: string;
}

/** Where undated paths are counted. */
export const UNDATED = '1970-01-01';

const DAY_MS = 86_400_000;
/** Rows of the sandbox are made up to six weeks ahead, and follow-ups read them. */
const RECORDED_AHEAD_DAYS = 62;

/**
 * The days of a source that are recorded one by one. Rows of other days were stored before rows were checked for their
 * dates: they count in the totals of the source, and nowhere else.
 */
export function recordedRange(now: Date): DateRange {
  return { start: EARLIEST_DAY, end: dayAt(now.getTime() + RECORDED_AHEAD_DAYS * DAY_MS) };
}

/**
 * The ingest record: what each day of a source held when rows last arrived or were synced. A day whose rows differ from
 * what stands there is dated anew, so that an older analysis can tell that its evidence has changed since.
 */
export async function recordSourceDays(
  em: SqlEntityManager,
  source: { readonly id: Uuid; readonly accountId: Uuid },
  days: readonly StoredDay[],
  now: Date,
): Promise<void> {
  const rows = JSON.stringify(days);
  await em.execute(
    `insert into attribution.source_days as known (data_source_id, account_id, day, rows, path_steps, digest,
      changed_at)
       select ?, ?, found.day, found.rows, found."pathSteps", found.digest, ?
         from jsonb_to_recordset(?::jsonb) as found (day date, rows bigint, "pathSteps" bigint, digest text)
     on conflict (data_source_id, day) do update
       set rows = excluded.rows, path_steps = excluded.path_steps, digest = excluded.digest,
         -- Days recorded before steps were counted are otherwise the same.
         changed_at = case when (known.rows, known.digest) is distinct from (excluded.rows, excluded.digest) then
           excluded.changed_at else known.changed_at end
       where (known.rows, known.path_steps, known.digest) is distinct from (excluded.rows, excluded.path_steps,
         excluded.digest)`,
    [source.id, source.accountId, now, rows],
  );
  await em.execute(
    `update attribution.source_days set rows = 0, path_steps = 0, digest = '', changed_at = ?
      where data_source_id = ? and rows > 0
       and day not in (select found.day from jsonb_to_recordset(?::jsonb) as found (day date))`,
    [now, source.id, rows],
  );
}

/** What is on record of the days of a source. */
export async function sourceDays(em: SqlEntityManager, dataSourceId: Uuid): Promise<readonly StoredDay[]> {
  const rows = await em.execute<{ day: string; rows: string; path_steps: string; digest: string }[]>(
    `select to_char(day, 'YYYY-MM-DD') as day, rows, path_steps, digest from attribution.source_days where ` +
      `data_source_id = ? order by day`,
    [dataSourceId],
  );
  return rows.map(({ day, rows: count, path_steps, digest }) => ({
    day,
    rows: Number(count),
    pathSteps: Number(path_steps),
    digest,
  }));
}

/**
 * What is on record of several sources, as the store finds it where it reads their rows together: rows add up, and so
 * do digests, which are sums of 64 bits.
 */
export function joinedDays(recorded: readonly (readonly StoredDay[])[]): readonly StoredDay[] {
  const [first, ...others] = recorded;
  if (first !== undefined && others.length === 0) return first;
  return [...Map.groupBy(recorded.flat(), ({ day }) => day)]
    .map(([day, each]) => ({
      day,
      rows: each.reduce((sum, { rows }) => sum + rows, 0),
      pathSteps: each.reduce((sum, { pathSteps }) => sum + pathSteps, 0),
      digest: joinedDigest(each.map(({ digest }) => digest)),
    }))
    .toSorted((a, b) => a.day.localeCompare(b.day));
}

/** Of each kind of rows, as `touchpoints:123 spend:45`. */
function joinedDigest(digests: readonly string[]): string {
  const kinds = Map.groupBy(
    digests.flatMap((digest) => digest.split(' ')).filter((entry) => entry !== ''),
    (entry) => entry.slice(0, entry.indexOf(':')),
  );
  return [...kinds]
    .map(([kind, entries]) => {
      const sum = entries.reduce((total, entry) => total + BigInt(entry.slice(kind.length + 1)), 0n);
      return `${kind}:${BigInt.asUintN(64, sum)}`;
    })
    .toSorted()
    .join(' ');
}

/**
 * How many rows are on record of the days from `first` to `last`, both inclusive, each step of a path counted as a row.
 */
export async function rowsOfDays(
  em: SqlEntityManager,
  dataSourceIds: readonly Uuid[],
  first: string,
  last: string,
): Promise<number> {
  const [row] = await em.execute<[{ rows: string }]>(
    `select coalesce(sum(rows + path_steps), 0) as rows from attribution.source_days where data_source_id = ` +
      `any (?::text::uuid[]) and day between ? and ?`,
    [`{${dataSourceIds.join(',')}}`, first, last],
  );
  return Number(row.rows);
}

/**
 * Asks for the days of a source whose rows changed after a moment, among those from `first` to `last` and {@link
 * UNDATED}.
 */
export interface ChangeQuestion {
  readonly dataSourceId: Uuid;
  readonly since: Date;
  readonly first: string;
  readonly last: string;
}

/** The days that changed, per question, in the order asked. */
export async function daysChangedSince(
  em: SqlEntityManager,
  asked: readonly ChangeQuestion[],
): Promise<readonly ReadonlySet<string>[]> {
  if (asked.length === 0) return [];
  const rows = await em.execute<{ place: number; day: string }[]>(
    `select asked.place, to_char(days.day, 'YYYY-MM-DD') as day
       from jsonb_to_recordset(?::jsonb) as asked (place integer, id uuid, since timestamptz, first date, last date)
       join attribution.source_days days on days.data_source_id = asked.id and days.changed_at > asked.since 
        and (days.day between asked.first and asked.last or days.day = '${UNDATED}')`,
    [
      JSON.stringify(
        asked.map(({ dataSourceId, since, first, last }, place) => ({
          place,
          id: dataSourceId,
          since: since.toISOString(),
          first,
          last,
        })),
      ),
    ],
  );
  const changed = asked.map(() => new Set<string>());
  for (const { place, day } of rows) changed[place]!.add(day);
  return changed;
}
