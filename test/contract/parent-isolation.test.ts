import { CONTRACT } from '../../rest-adapter/contract.ts';
import type { Operation } from '../../rest-adapter/operation.ts';
import { NOUNS } from '../../schema/contract/contract.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { clock } from '../service-clock.ts';
import { answerOf, say, send } from './cast.ts';
import { exampleRequest, sayings, unknownId, type ChooseId, type IdKind, type Place } from './example-requests.ts';
import { objectsOf, twoOf } from './furnish.ts';
import type { Belongings } from './noun-objects.ts';

/** Kinds of which an account has one object; tenant-isolation.test.ts tries those of others. */
const ONE_OF_AN_ACCOUNT: ReadonlySet<IdKind> = new Set(['agent']);

/** An operation of a noun whose objects hang on those of another. */
interface Below {
  readonly id: string;
  readonly noun: string;
  readonly operation: Operation;
  /** What its path names: the parent, and perhaps what hangs on it. */
  readonly parent: Named;
  readonly child: Named | undefined;
}
interface Named {
  readonly kind: IdKind;
  readonly place: Place;
}

const BELOW = NOUNS.flatMap((noun) => {
  const objects = objectsOf(noun.many);
  const own = objects.kind;
  return CONTRACT.filter(({ id }) => id in noun.operations).flatMap((operation): Below[] => {
    const named: Named[] = [];
    exampleRequest(operation, (kind, place) => (named.push({ kind, place }), unknownId(kind)));
    const [parent, child] = named.filter(({ place }) => place.startsWith('path/'));
    if (parent === undefined || parent.kind === own || ONE_OF_AN_ACCOUNT.has(parent.kind)) return [];
    return [{ id: operation.id, noun: noun.many, operation, parent, child }];
  });
});
const isReading = ({ operation, child }: Below): boolean => operation.method === 'GET' && child === undefined;
const SAYINGS = new Map(sayings().map((saying) => [saying.operation?.id, saying]));

interface Answered {
  readonly outcome: string;
  readonly text: string;
}
/** Asks for what hangs on an object; without what the example narrows a page by. */
type Door = (house: House, below: Below, caller: Caller, choose: ChooseId) => Promise<Answered>;
const DOORS: Readonly<Record<string, Door>> = {
  REST: async (_house, { id, operation }, caller, choose) =>
    answerOf(
      await send(
        { operation, pattern: operation.path, name: id },
        { ...exampleRequest(operation, choose), query: {} },
        caller,
      ),
    ),
  'the graph': (house, { id }, caller, choose) => {
    const saying = SAYINGS.get(id);
    if (saying === undefined) throw new Error(`no document asks the graph for ${id}`);
    const { filter: _, ...variables } = saying.variables(choose);
    return say(house, saying, variables, { caller, workspace: null });
  },
};

/** For whoever adds a noun. */
const IGNORED = 'the parent in the path is ignored: ask for it, too, wherever the store reads, changes or deletes';

describe.each(Object.entries(DOORS))(
  'what hangs on one object, by way of another of the same caller: %s',
  (_, door) => {
    let house: House;
    beforeAll(async () => {
      house = await openHouse('one process', { withWorker: false, clock });
    });
    afterAll(() => house?.stop());

    /** An answer without what differs between equal requests. */
    async function ask(below: Below, caller: Caller, belongings: Belongings, parent: string, child?: string) {
      const { outcome, text } = await door(house, below, caller, (kind, place) => {
        if (place === below.parent.place) return parent;
        return (place === below.child?.place ? child : belongings[kind]) ?? unknownId(kind);
      });
      const anonymous = [parent, child ?? parent].reduce((left, id) => left.replaceAll(id, 'ID'), text);
      return {
        outcome,
        text: anonymous.replaceAll(/req_\w+/g, 'REQUEST').replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"'),
      };
    }

    test.each(BELOW)('$id', async (below) => {
      const caller = await Caller.register(house.root);
      const two = await twoOf(below.parent.kind, caller, { withWorker: false });
      const [other, own] = two.ids;
      const readings = BELOW.filter((each) => each.noun === below.noun && isReading(each));
      const shownBelow = (parent: string) => Promise.all(readings.map((each) => ask(each, caller, {}, parent)));

      const bare = await shownBelow(other);
      const belongings = await two.below(below.noun);
      const shown = await shownBelow(own);
      for (const [place, { text }] of shown.entries()) expect(text).not.toBe(bare[place]!.text);
      // What is made below one shows nothing below the other.
      expect({ hint: IGNORED, shown: await shownBelow(other) }).toEqual({ hint: IGNORED, shown: bare });
      if (isReading(below)) return;

      const child = below.child && belongings[below.child.kind]!;
      const answer = await ask(below, caller, belongings, other, child);
      if (below.child !== undefined) {
        const { outcome } = answer;
        expect({ hint: IGNORED, outcome }).toEqual({ hint: IGNORED, outcome: '404 resource_not_found' });
        expect(answer).toEqual(await ask(below, caller, belongings, other, unknownId(below.child.kind)));
      }
      // What is done below the other changes nothing below this one.
      expect({ hint: IGNORED, shown: await shownBelow(own) }).toEqual({ hint: IGNORED, shown });
      // By way of its own parent it is found.
      expect((await ask(below, caller, belongings, own, child)).outcome).not.toMatch(/^404/);
    });
  },
);

test('lists below an object, single ones, and mutations of them are tried', () => {
  expect(BELOW.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['listRejects', 'setChannelRules', 'listWebhookDeliveries', 'redeliverWebhook']),
  );
});
