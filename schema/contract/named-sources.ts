import { z } from 'zod';
import { queryList } from './query-list.ts';
import { id, inRest, namedId } from './terms.ts';

/* How a request says whose rows it is about: one source, several, or those of a brand. */

/** Sources that one request reads as if they were one. */
export const MAX_JOINED_SOURCES = 20;

const distinct = <Id extends z.ZodString>(each: Id) =>
  z
    .array(each)
    .min(2, 'name at least two sources; one alone is data_source_id')
    .max(MAX_JOINED_SOURCES)
    .refine((ids) => new Set(ids).size === ids.length, 'must not name a source twice');
const severalIds = distinct(z.string().min(1).max(128));

/** The members of a request; {@link sourcesAreNamed} and {@link sourcesAreNamedOnce} hold between them. */
export const namedSources = {
  dataSourceId: namedId('ds').optional().meta({
    description: 'The source; exactly one of data_source_id, data_source_ids and brand_id',
    graph: 'Public id of a source of the account. Exactly one of dataSourceId, dataSourceIds and brandId.',
  }),
  dataSourceIds: inRest(severalIds, z.array(id('ds')))
    .optional()
    .meta({
      description:
        '2 to 20 sources that are read as if they were one: one space of user ids, each order once. Currency, ' +
        'baseline channels, serving agent and fee are those of the first',
      graph:
        'Public ids of 2 to 20 sources that are read as if they were one: one space of user ids, each order once. ' +
        'Baseline channels, serving agent and fee are those of the first.',
      restAfter: 'dataSourceId',
    }),
  brandId: z.string().min(1).max(128).meta({ scalar: 'ID' }).optional().meta({
    description: 'Stands for the sources that were connected with this brand_id, oldest first',
    graph: 'Stands for the sources that were connected with this brand, oldest first.',
    restAfter: 'dataSourceIds',
  }),
} as const;

const { dataSourceIds } = namedSources;
/** The same in a query string. */
export const namedSourcesInQuery = {
  ...namedSources,
  dataSourceIds: inRest(
    queryList(severalIds, { items: { type: 'string' }, minItems: 2, maxItems: MAX_JOINED_SOURCES }),
    distinct(id('ds')),
  )
    .optional()
    .meta({ ...dataSourceIds.meta() }),
} as const;

/** Which sources an answer is about, where they are several. */
export const joinedSources = z.array(id('ds')).optional().meta({
  description: 'All sources that were analysed together, in the order of the request; absent for one',
  graph: 'Public ids of all sources that were analysed together, in the order of the request; null for one.',
  restAfter: 'dataSourceId',
});

interface NamedOnce {
  readonly dataSourceId?: unknown;
  readonly dataSourceIds?: unknown;
  readonly brandId?: unknown;
}

const namedIn = ({ dataSourceId, dataSourceIds, brandId }: NamedOnce): number =>
  [dataSourceId, dataSourceIds, brandId].filter((named) => named !== undefined).length;

/** Also where another member is wrong, so that one answer tells of everything; in the names of either door. */
const when = ({ value, issues }: z.core.ParsePayload): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !issues.some(({ path }) => /^(data_?source|brand)/i.test(String(path?.[0])));

/** The rules between the members: exactly one of them is named. */
export const sourcesAreNamed = (given: NamedOnce): boolean => namedIn(given) > 0;
export const sourcesAreNamedOnce = (given: NamedOnce): boolean => namedIn(given) < 2;

/** What is said where {@link sourcesAreNamed} does not hold. */
export const noSource = () => ({
  path: ['dataSourceId'],
  message: 'is required, or data_source_ids for several sources, or brand_id for those of a brand',
  params: { code: 'required' },
  when,
});
/** What is said where {@link sourcesAreNamedOnce} does not hold. */
export const sourcesNamedTwice = () => ({
  path: ['dataSourceId'],
  message: 'name exactly one of data_source_id, data_source_ids and brand_id',
  params: { code: 'mutually_exclusive' },
  when,
});
