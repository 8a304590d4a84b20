import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { countRepeatedOrders, withoutGaps } from './named-rows.ts';
import { MAX_IDS_OF_PERSON, stitched, type FoundPeople } from './people.ts';
import { sourcesOf, type SourceKey } from './source-key.ts';
import { matchedConversions } from './touchpoint-store.ts';

/** Sources as their rows are to be read, and what whoever reads the figures should know of it. */
export interface ReadTogether<Source extends SourceKey> {
  readonly source: Source;
  /** Null where no identities are stored. */
  readonly people: FoundPeople | null;
  readonly warnings: readonly string[];
}

/**
 * Looks at what has to be known before rows are read: touches without a channel, who is one person, and orders that
 * several of the sources tell.
 * @throws ProblemError `validation_error` / `too_many_identities`
 */
export async function readTogether<Source extends SourceKey>(
  clickhouse: ClickHouse,
  asked: Source,
): Promise<ReadTogether<Source>> {
  const named = await withoutGaps(clickhouse, asked);
  const { source, found } = await stitched(clickhouse, named);
  const repeatedOrders = await countRepeatedOrders(clickhouse, named);
  return {
    // One source alone stays as it was asked for.
    source: sourcesOf(source).length === 1 ? source : { ...source, repeatedOrders },
    people: found,
    warnings: [
      ...boughtNames(named),
      ...(repeatedOrders === 0
        ? []
        : [
            `${counted(repeatedOrders, 'order is', 'orders are')} told by more than one of the sources. Each counts ` +
              'once, as the first of the sources that has it tells it, in the order of the request.',
          ]),
      ...(found === null || found.leftOut === 0
        ? []
        : [
            `Identities make one person of more than ${MAX_IDS_OF_PERSON.toLocaleString('en-US')} ids: ` +
              `${counted(found.leftOut, 'id', 'ids')} of such groups were left as they are. A device that many ` +
              'share, or a placeholder in place of an id, joins strangers; remove it from the file of identities.',
          ]),
    ],
  };
}

/** Whose touches have the name of spend although no file says so. */
function boughtNames(named: SourceKey): readonly string[] {
  const names = new Set(
    sourcesOf(named).flatMap(({ naming }) => (naming?.networks ?? []).map(({ channel }) => channel)),
  );
  if (names.size === 0) return [];
  return [
    `Paid touches that name no channel, but come from an advertising network, count as what its spend is called: ` +
      `${[...names].join(', ')}. Channel rules call them otherwise.`,
  ];
}

/** What identities did to the journeys of sources that are read together. */
export interface Stitching {
  readonly pairs: number;
  readonly people: number;
  /** Share of the users of conversions who have a touch, by the ids of the files; null without conversions. */
  readonly userMatchRate: number | null;
  /** The same with one id for each person. */
  readonly stitchedUserMatchRate: number | null;
}

/** Null where no identities are stored: then nothing is read. */
export async function stitchingOf(
  clickhouse: ClickHouse,
  { source, people }: ReadTogether<SourceKey>,
): Promise<Stitching | null> {
  if (people === null) return null;
  const rateOf = async (key: SourceKey): Promise<number | null> => {
    const { users, matchedUsers } = await matchedConversions(clickhouse, key);
    return users === 0 ? null : matchedUsers / users;
  };
  return {
    pairs: people.pairs,
    people: people.people,
    userMatchRate: await rateOf({ ...source, people: undefined }),
    stitchedUserMatchRate: await rateOf(source),
  };
}

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
