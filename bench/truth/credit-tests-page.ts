import { CREDIT_TESTS } from '../../schema/value-lists.ts';
import type { ShopRecord } from './shop-record.ts';
import type { Trait } from './simulators/simulator.ts';

type Code = (typeof CREDIT_TESTS)[number];

/** What each test should find, by what the author of a simulator says; none says anything of the other two. */
const FINDS: Readonly<Partial<Record<Code, readonly [trait: Trait, of: 'channel' | 'shop']>>> = {
  lead: ['reactive_targeting', 'channel'],
  overlap: ['reactive_targeting', 'channel'],
  horizon_halved: ['long_horizon', 'shop'],
  horizon_doubled: ['long_horizon', 'shop'],
};

interface Made {
  readonly simulator: string;
  readonly code: string;
  readonly failed: boolean;
  readonly channelTraits: readonly Trait[];
  readonly shopTraits: readonly Trait[];
  /** of a test of a paid channel; of one of a placebo: of the paid channels of the shop */
  readonly error: number;
  readonly covered: number;
}

function madeIn(shops: readonly ShopRecord[]): Made[] {
  return shops.flatMap(({ simulator, traits, channels, estimates: { causal }, revenue, tests }) => {
    const judged = channels.map(({ truth }, c) => ({
      error: Math.abs(causal.credit[c]! - truth) / revenue,
      covered: Number(causal.low![c]! <= truth && truth <= causal.high![c]!),
    }));
    const mean = (of: (one: (typeof judged)[number]) => number): number =>
      judged.reduce((sum, one) => sum + of(one), 0) / Math.max(1, judged.length);
    const ofShop = { error: mean(({ error }) => error), covered: mean(({ covered }) => covered) };
    return tests.map(({ code, channel, failed }) => {
      const c = channels.findIndex(({ name }) => name === channel);
      return {
        simulator,
        code,
        failed,
        channelTraits: channels[c]?.traits ?? [],
        shopTraits: traits,
        ...(judged[c] ?? ofShop),
      };
    });
  });
}

const part = (all: readonly Made[], counts: (made: Made) => boolean): string =>
  all.length === 0 ? '–' : `${((100 * all.filter(counts).length) / all.length).toFixed(0)} %`;

/** Rows of a table: of the tests that were made, how many failed, where their cause was planted and elsewhere. */
export function failureRows(shops: readonly ShopRecord[], simulators: readonly string[]): string[][] {
  const made = madeIn(shops);
  return CREDIT_TESTS.map((code) => {
    const found = FINDS[code];
    const isPlanted = (each: Made): boolean =>
      found !== undefined && (found[1] === 'shop' ? each.shopTraits : each.channelTraits).includes(found[0]);
    return [
      found === undefined ? code : `${code}, where the ${found[1]} is \`${found[0]}\``,
      ...simulators.map((simulator) => {
        const here = made.filter((each) => each.simulator === simulator && each.code === code);
        const elsewhere = part(
          here.filter((each) => !isPlanted(each)),
          ({ failed }) => failed,
        );
        return found === undefined
          ? elsewhere
          : `${part(here.filter(isPlanted), ({ failed }) => failed)} / ${elsewhere}`;
      }),
    ];
  });
}

/** Rows of a table: what a failed test says of the credit: mean error, and how often the interval holds the truth. */
export function meaningRows(shops: readonly ShopRecord[]): string[][] {
  const made = madeIn(shops);
  const mean = (all: readonly Made[], of: (made: Made) => number): string =>
    all.length === 0 ? '–' : `${((100 * all.reduce((sum, each) => sum + of(each), 0)) / all.length).toFixed(1)} %`;
  return CREDIT_TESTS.map((code) => {
    const here = made.filter((each) => each.code === code);
    const [failed, passed] = [here.filter((each) => each.failed), here.filter((each) => !each.failed)];
    return [
      code,
      String(here.length),
      String(failed.length),
      ...[failed, passed].flatMap((some) => [mean(some, ({ error }) => error), mean(some, ({ covered }) => covered)]),
    ];
  });
}

/** Delta_R by the truth, and whether its published interval holds it. */
export function deltaRCoverage(shops: readonly ShopRecord[]): number {
  const held = shops.filter(({ channels, estimates, deltaR }) => {
    const truth = channels.reduce(
      (sum, channel, c) => sum + Math.max(0, channel.truth - estimates.last_click.credit[c]!),
      0,
    );
    return deltaR.low <= truth && truth <= deltaR.high;
  });
  return held.length / Math.max(1, shops.length);
}
