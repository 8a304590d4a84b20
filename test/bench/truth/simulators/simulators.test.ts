import { SIMULATORS } from '../../../../bench/truth/simulators/registry.ts';
import type { SimulatedShop } from '../../../../bench/truth/simulators/simulator.ts';
import { faultsOf } from './shop-faults.ts';

const PEOPLE = 1_500;
/** By simulator: an ordinary shop, and one in which nothing works. */
const TRIED: Readonly<Record<string, readonly [ordinary: number, nothingWorks: number]>> = {
  'consumer-states': [1, 4],
  'discrete-choice': [2, 5],
  'semi-synthetic': [2, 5],
  'self-exciting': [1, 7],
  consideration: [5, 4],
  'candidate-histories': [5, 10],
  replenishment: [1, 5],
};

test('every simulator is tried, and has a name and shops of its own', () => {
  expect(SIMULATORS.map(({ name }) => name).toSorted()).toEqual(Object.keys(TRIED).toSorted());
  for (const { shops } of SIMULATORS) expect(shops).toBeGreaterThanOrEqual(24);
});

describe.each(SIMULATORS.map((simulator) => [simulator.name, simulator] as const))('%s', (name, simulator) => {
  const [ordinary, nothingWorks] = TRIED[name] ?? [1, 1];

  test('gives sound rows and their truth', () => {
    expect(faultsOf(() => simulator.shop(ordinary, PEOPLE))).toEqual([]);
  });

  test('has shops in which nothing works', () => {
    expect(simulator.shop(nothingWorks, PEOPLE).traits).toContain('nothing_works');
    expect(faultsOf(() => simulator.shop(nothingWorks, PEOPLE))).toEqual([]);
  });
});

describe('a planted fault is caught', () => {
  const consideration = SIMULATORS.find(({ name }) => name === 'consideration')!;
  const sound = (): SimulatedShop => consideration.shop(1, 600);
  /** The shop with something changed; its methods stay bound to the sound one. */
  const changed = (change: (shop: SimulatedShop) => Partial<SimulatedShop>) => (): SimulatedShop => {
    const shop = sound();
    const { name, people, days, startS, channels, traits } = shop;
    return {
      name,
      people,
      days,
      startS,
      channels,
      traits,
      run: (plan, sink) => shop.run(plan, sink),
      runWithTruth: (sink) => shop.runWithTruth(sink),
      ...change(shop),
    };
  };
  let calls = 0;

  test('where a sound shop has none', () => {
    expect(faultsOf(sound)).toEqual([]);
  });

  test.each<[string, () => SimulatedShop, RegExp]>([
    [
      'rows out of order',
      changed((shop) => ({
        run: (plan, sink) =>
          shop.run(
            plan,
            sink && {
              event: (timeS, ...rest) => sink.event(2 * shop.startS + 1_000_000 - timeS, ...rest),
              endUser: (id) => sink.endUser(id),
              spend: (...spent) => sink.spend(...spent),
            },
          ),
      })),
      /order of time/,
    ],
    [
      'two people of one name',
      changed((shop) => ({
        run: (plan, sink) =>
          shop.run(
            plan,
            sink && {
              event: (...row) => sink.event(...row),
              endUser: (id) => sink.endUser(id === 'u2' ? 'u1' : id),
              spend: (...spent) => sink.spend(...spent),
            },
          ),
      })),
      /user u1 came before/,
    ],
    ['a channel that is not there', changed((shop) => ({ channels: shop.channels.slice(0, -1) })), /no channel 9/],
    [
      'another world with every run',
      changed((shop) => ({
        runWithTruth: (sink) => {
          const truth = shop.runWithTruth(sink);
          return { ...truth, orders: truth.orders + calls++ };
        },
      })),
      /not the same twice/,
    ],
    [
      'a truth that plans do not bear out',
      changed((shop) => ({
        runWithTruth: (sink) => {
          const truth = shop.runWithTruth(sink);
          return {
            ...truth,
            switchOff: truth.switchOff.map(({ orders, revenue }) => ({ orders, revenue: revenue * 2 })),
          };
        },
      })),
      /without .*: truth/,
    ],
    ['effects where nothing works', changed(() => ({ traits: ['nothing_works'] })), /though nothing works/],
  ])('%s', (_, make, fault) => {
    expect(faultsOf(make).join('\n')).toMatch(fault);
  });
});
