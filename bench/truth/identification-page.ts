import type { ShopRecord } from './shop-record.ts';
import type { Trait } from './simulators/simulator.ts';

interface Known {
  readonly simulator: string;
  readonly status: string;
  readonly codes: readonly string[];
  readonly channelTraits: readonly Trait[];
  readonly shopTraits: readonly Trait[];
  readonly covered: boolean;
}

/** What a test should find, by what the author of a simulator says of a channel or, for all its channels, of a shop. */
const TESTS: readonly (readonly [code: string, trait: Trait, of: 'channel' | 'shop'])[] = [
  ['reactive_targeting', 'reactive_targeting', 'channel'],
  ['navigational_click', 'navigational_clicks', 'channel'],
  ['placebo_contains_effect', 'halo_visits', 'channel'],
  ['ids_split', 'touches_lost', 'shop'],
  ['ids_split', 'ids_split', 'shop'],
  ['horizon_exceeds_data', 'long_horizon', 'shop'],
];
const STATUSES = ['point', 'partial', 'none'] as const;

function knownOf(shops: readonly ShopRecord[]): Known[] {
  return shops.flatMap(({ simulator, traits, channels, estimates: { causal } }) =>
    channels.map((channel, c) => ({
      simulator,
      ...causal.identification![c]!,
      channelTraits: channel.traits,
      shopTraits: traits,
      covered: causal.low![c]! <= channel.truth && channel.truth <= causal.high![c]!,
    })),
  );
}

const part = (all: readonly Known[], counts: (known: Known) => boolean): string =>
  all.length === 0 ? '–' : `${((100 * all.filter(counts).length) / all.length).toFixed(0)} %`;

/** Rows of a table: how many channels have each status, and how often the intervals of each hold the truth. */
export function statusRows(shops: readonly ShopRecord[], simulators: readonly string[]): string[][] {
  const known = knownOf(shops);
  return STATUSES.map((status) => {
    const of = (simulator: string): Known[] => known.filter((each) => each.simulator === simulator);
    const having = known.filter((each) => each.status === status);
    return [
      status,
      ...simulators.map((simulator) => part(of(simulator), (each) => each.status === status)),
      status === 'none' ? '–' : part(having, ({ covered }) => covered),
    ];
  });
}

/** Rows of a table: how often each test finds what was planted, and how often it cries where it was not. */
export function testRows(shops: readonly ShopRecord[], simulators: readonly string[]): string[][] {
  const known = knownOf(shops);
  return TESTS.map(([code, trait, of]) => [
    `${code}, where ${of === 'shop' ? 'the shop has' : 'the channel is'} \`${trait}\``,
    ...simulators.map((simulator) => {
      const here = known.filter((each) => each.simulator === simulator);
      const planted = (each: Known): boolean => (of === 'shop' ? each.shopTraits : each.channelTraits).includes(trait);
      const found = ({ codes }: Known): boolean => codes.includes(code);
      return `${part(here.filter(planted), found)} / ${part(
        here.filter((each) => !planted(each)),
        found,
      )}`;
    }),
  ]);
}
