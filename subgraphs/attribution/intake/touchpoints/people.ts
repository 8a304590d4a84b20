import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { FairTurns } from '../../../../platform/fair-turns.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { ConnectedIds, type PeopleCount } from './connected-ids.ts';
import { OF_SOURCE, sourceParams, sourcesOf, type SourceKey } from './source-key.ts';

/*
 * Which ids are one person's, over all sources that are read together. The pairs lie in the store as files gave them;
 * people are made of them when somebody is about to read rows, and kept under what they were made of: as long as
 * sources and pairs stay the same, nobody makes them again. Only hashes of ids are kept of them.
 */

/** Pairs of all the sources that are read together: making people of them takes up to 100 MB for a moment. */
export const MAX_PAIRS = 2_000_000;
/** Ids of one person. A larger group is a shared device, or a placeholder that stood where an id should. */
export const MAX_IDS_OF_PERSON = 1_000;

const TIMEOUT_MS = 120_000;
/** Ids that are looked at while nobody else has the thread; also the rows of a block on its way to the store. */
const IDS_OF_STEP = 65_536;

const foundPeople = z.object({
  /** Pairs of two ids, each pair once. */
  pairs: z.number(),
  people: z.number(),
  /** Ids that stay what they are, since more than {@link MAX_IDS_OF_PERSON} would be one person. */
  leftOut: z.number(),
});
export type FoundPeople = z.output<typeof foundPeople>;

/** Sources as they are to be read, and who was found in them; null where no identities are stored. */
export interface Stitched<Source extends SourceKey> {
  readonly source: Source;
  readonly found: FoundPeople | null;
}

/**
 * The same sources, to be read with one id for each person.
 * @throws ProblemError `validation_error` / `too_many_identities`
 */
export async function stitched<Source extends SourceKey>(
  clickhouse: ClickHouse,
  source: Source,
): Promise<Stitched<Source>> {
  const rows = await identityRows(clickhouse, source);
  if (rows === 0) return { source, found: null };
  // A pair may lie there twice until the engine has merged its parts.
  if (rows > 2 * MAX_PAIRS) throw tooMany();
  const held = await heldPairs(clickhouse, source);
  if (held.pairs === 0) return { source, found: null };
  if (held.pairs > MAX_PAIRS) throw tooMany();
  const pool = poolOf(source, held.digest);
  const read = { params: { ...sourceParams(source), people: pool }, timeoutMs: TIMEOUT_MS };
  const known = await knownPeople(clickhouse, read);
  const found =
    known ??
    (await inTurn(
      source.accountId,
      async () => (await knownPeople(clickhouse, read)) ?? makePeople(clickhouse, read, held.pairs),
    ));
  return { source: { ...source, people: pool }, found };
}

interface Read {
  readonly params: ReturnType<typeof sourceParams> & { readonly people: string };
  readonly timeoutMs: number;
}

/** Two ids, in the order of their hashes. */
const PAIRS = `SELECT DISTINCT least(sipHash64(id), sipHash64(same_as)) AS a,
  greatest(sipHash64(id), sipHash64(same_as)) AS b FROM identities WHERE ${OF_SOURCE} AND id != same_as`;

async function identityRows(clickhouse: ClickHouse, source: SourceKey): Promise<number> {
  const [row] = await clickhouse.rows(
    `SELECT count() AS stored FROM identities WHERE ${OF_SOURCE}`,
    z.object({ stored: z.coerce.number() }),
    { params: sourceParams(source), timeoutMs: TIMEOUT_MS },
  );
  return row?.stored ?? 0;
}

function tooMany(): ProblemError {
  return new ProblemError(
    'validation_error',
    `The sources hold more than ${MAX_PAIRS.toLocaleString('en-US')} pairs of ids that are one person, which is the ` +
      'most that can be read together. Send the pairs of customers alone to a source of their own, and delete the ' +
      'one that holds these.',
    { code: 'too_many_identities' },
  );
}

async function heldPairs(clickhouse: ClickHouse, source: SourceKey): Promise<{ pairs: number; digest: string }> {
  // One more than may be tells as much as all of them, and is counted within the memory of one question.
  const [row] = await clickhouse.rows(
    `SELECT count() AS pairs, toString(sum(cityHash64(a, b))) AS digest FROM (${PAIRS} LIMIT ${MAX_PAIRS + 1})`,
    z.object({ pairs: z.coerce.number(), digest: z.string() }),
    { params: sourceParams(source), timeoutMs: TIMEOUT_MS },
  );
  return row ?? { pairs: 0, digest: '' };
}

/** Names whose ids were joined by which pairs; nobody can name those of another account. */
function poolOf(source: SourceKey, digest: string): string {
  const sources = sourcesOf(source)
    .map(({ accountId, dataSourceId }) => `${accountId}/${dataSourceId}`)
    .toSorted();
  return createHash('sha256')
    .update(JSON.stringify([sources, digest, MAX_IDS_OF_PERSON]))
    .digest('hex');
}

async function knownPeople(clickhouse: ClickHouse, read: Read): Promise<FoundPeople | null> {
  const [row] = await clickhouse.rows(
    `SELECT facts FROM people_made WHERE pool = {people:String} AND made > now() - INTERVAL 1 DAY LIMIT 1`,
    z.object({ facts: z.string() }),
    read,
  );
  return row === undefined ? null : foundPeople.parse(JSON.parse(row.facts));
}

/** Two at once make the same, and their rows replace each other. */
async function makePeople(clickhouse: ClickHouse, read: Read, pairs: number): Promise<FoundPeople> {
  const ids = new ConnectedIds(2 * pairs);
  // One id with so many others can only be of a group that is too large: without it, the others are people again.
  const hubs = `SELECT arrayJoin([a, b]) AS hub FROM (${PAIRS}) GROUP BY hub HAVING count() >= ${MAX_IDS_OF_PERSON}`;
  const [counted] = await clickhouse.rows(
    `SELECT count() AS hubs FROM (${hubs})`,
    z.object({ hubs: z.coerce.number() }),
    read,
  );
  const hubCount = counted?.hubs ?? 0;
  const statement =
    hubCount === 0 ? PAIRS : `WITH hubs AS (${hubs}) SELECT a, b FROM (${PAIRS}) WHERE a NOT IN hubs AND b NOT IN hubs`;
  // Pairs that have come since they were counted are of the next making.
  for await (const batch of clickhouse.batches(`${statement} LIMIT ${pairs}`, read)) {
    const [a, b] = [wordsOf(batch.getChild('a')), wordsOf(batch.getChild('b'))];
    for (let row = 0; row < batch.numRows; row += 1)
      ids.join(a[2 * row]!, a[2 * row + 1]!, b[2 * row]!, b[2 * row + 1]!);
  }
  const steps = ids.people(MAX_IDS_OF_PERSON, IDS_OF_STEP);
  let count: PeopleCount = { people: 0, leftOut: 0 };
  await clickhouse.insert(
    `INSERT INTO people (pool, id, person) SELECT {people:String}, id, person FROM input('id UInt64, person UInt64')
      FORMAT RowBinary`,
    inSteps(steps, (total) => (count = total)),
    read,
  );
  const found: FoundPeople = { pairs, people: count.people, leftOut: count.leftOut + hubCount };
  // Behind the people: whoever finds the note finds them all.
  await clickhouse.insert(
    `INSERT INTO people_made (pool, facts) SELECT {people:String}, facts FROM input('facts String') FORMAT JSONEachRow`,
    Buffer.from(JSON.stringify({ facts: JSON.stringify(found) })),
    read,
  );
  return found;
}

/** Whole numbers of 64 bits as pairs of words, the lower one first. */
function wordsOf(column: { readonly data: readonly { readonly values: unknown }[] } | null): Uint32Array {
  const values = column!.data[0]!.values as BigUint64Array;
  return new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
}

async function* inSteps(
  steps: ReturnType<ConnectedIds['people']>,
  onCount: (count: PeopleCount) => void,
): AsyncIterable<Uint8Array> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return onCount(step.value);
    if (step.value.length > 0) yield new Uint8Array(step.value.buffer, step.value.byteOffset, step.value.byteLength);
    await setImmediate();
  }
}

/** One at a time in a process, and by turns of accounts: what it takes is taken once, and nobody waits for a crowd. */
const TURNS = new FairTurns({ places: 1, perTenant: 1 });

async function inTurn<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
  const over = await TURNS.take(accountId);
  try {
    return await work();
  } finally {
    over();
  }
}
