import { CONTRACT } from '../../rest-adapter/contract.ts';
import type { Operation } from '../../rest-adapter/operation.ts';
import { NOUNS } from '../../schema/contract/contract.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { clock } from '../service-clock.ts';
import { answerOf, say, send } from './cast.ts';
import { exampleRequest, idPlaces, sayings, unknownId, type IdKind, type Place } from './example-requests.ts';
import { objectsOf, twoOf } from './furnish.ts';

/** Kinds of which an account has one object. */
const ONE_OF_AN_ACCOUNT: ReadonlySet<IdKind> = new Set(['agent']);

/** A list that can be narrowed to what belongs to one object. */
interface Filter {
  readonly operation: Operation;
  readonly noun: string;
  readonly place: Place;
  readonly member: string;
  readonly kind: IdKind;
}

const FILTERS = NOUNS.flatMap((noun) => {
  const objects = objectsOf(noun.many);
  // What comes with something else cannot be made below an object here.
  if ('comesWith' in objects) return [];
  const own = objects.kind;
  // An insight is no list: what it is asked about has to be computed first.
  const isList = ({ id, method, kind }: Operation) => id in noun.operations && method === 'GET' && kind !== 'insight';
  return CONTRACT.filter(isList).flatMap((operation): Filter[] =>
    idPlaces(operation).flatMap(({ place }): Filter[] => {
      if (!place.startsWith('query/')) return [];
      const kind = kindAt(operation, place);
      const isTried = kind !== own && !ONE_OF_AN_ACCOUNT.has(kind);
      return isTried ? [{ operation, noun: noun.many, place, member: place.slice('query/'.length), kind }] : [];
    }),
  );
});
const SAYINGS = new Map(sayings().map((saying) => [saying.operation?.id, saying]));

function kindAt(operation: Operation, place: Place): IdKind {
  let found: IdKind | undefined;
  exampleRequest(operation, (kind, at) => ((found = at === place ? kind : found), unknownId(kind)), place);
  return found!;
}

/** Asks for what belongs to an object, and for nothing narrower. */
type Door = (house: House, filter: Filter, caller: Caller, id: string) => Promise<{ outcome: string; text: string }>;
const DOORS: Readonly<Record<string, Door>> = {
  REST: async (_house, { operation, member }, caller, id) =>
    answerOf(
      await send(
        { operation, pattern: operation.path, name: operation.id },
        { path: {}, query: { [member]: id }, headers: {}, body: undefined },
        caller,
      ),
    ),
  'the graph': (house, { operation, place }, caller, id) => {
    const saying = SAYINGS.get(operation.id);
    if (saying === undefined) throw new Error(`no document asks the graph for ${operation.id}`);
    const variables = saying.variables((kind, at) => (at === place ? id : unknownId(kind)), place);
    return say(house, saying, narrowedTo(id, variables), { caller, workspace: null });
  },
};

/** The variables, and those of their filter, that are the id. */
function narrowedTo(id: string, variables: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]): [string, unknown][] => {
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        return [[name, narrowedTo(id, value as Record<string, unknown>)]];
      return value === id ? [[name, value]] : [];
    }),
  );
}

/** For whoever adds a filter. */
const IGNORED = 'the id in the filter is ignored: narrow by it wherever the store reads';

describe.each(Object.entries(DOORS))('lists narrowed to what belongs to one object: %s', (_, door) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false, clock });
  });
  afterAll(() => house?.stop());

  test.each(FILTERS.map((filter) => ({ ...filter, title: `${filter.operation.id}, ${filter.member}` })))(
    '$title',
    async (filter) => {
      const caller = await Caller.register(house.root);
      const two = await twoOf(filter.kind, caller, { withWorker: false });
      const [other, own] = two.ids;
      const shown = async (id: string) => {
        const { outcome, text } = await door(house, filter, caller, id);
        expect(outcome).toBe('200');
        return text
          .replaceAll(id, 'ID')
          .replaceAll(/req_\w+/g, 'REQUEST')
          .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"');
      };
      const [ofOther, ofOwn] = [await shown(other), await shown(own)];
      await two.below(filter.noun);
      expect(await shown(own)).not.toBe(ofOwn);
      expect({ hint: IGNORED, shown: await shown(other) }).toEqual({ hint: IGNORED, shown: ofOther });
    },
  );
});

test('lists of analyses and experiments are tried', () => {
  expect(FILTERS.map(({ operation, member }) => `${operation.id} ${member}`)).toEqual(
    expect.arrayContaining(['listAttributions data_source_id', 'listExperiments data_source_id']),
  );
});
