import { visitExample } from '../../bench/concepts/worked-examples.ts';
import { twoSidedZ } from '../../compute/numerics/normal-quantile.ts';
import { insufficientData } from '../../compute/outcome.ts';
import { DAY_S } from '../../compute/run-options.ts';
import { platformFeeCents } from '../../schema/platform-fee.ts';
import { figures } from '../compute/run-in-thread.ts';
import { amounts, byChannel, print, RULES, shares, total, type Worked } from './printed-figures.ts';

/** The pages that work visits.csv through. */
export function visitPages(): Worked[] {
  const example = visitExample();
  const { rows, channels, isBaseline, totals, prav, causal, comparison, markov, shapley, dominance, rwa } = example;
  const paid = Array.from(channels.keys()).filter((c) => isBaseline[c] !== 1);
  const placebos = Array.from(channels.keys()).filter((c) => isBaseline[c] === 1);
  const pick = (column: ArrayLike<number>): number[] => paid.map((c) => column[c]!);
  const names = paid.map((c) => channels[c]!);

  // Users by what they did: touches by day, and the day of their order.
  const begin = Math.min(...rows.map((row) => row.timeS));
  const day = (timeS: number): number => Math.round(((timeS - begin) / DAY_S) * 2) / 2;
  const stories = [...Map.groupBy(rows, (row) => row.user).values()].map((events) => {
    const touches = events
      .filter((event) => !event.conversion)
      .map((event) => `${day(event.timeS)}: ${event.channel}`)
      .join(', ');
    const order = events.find((event) => event.conversion);
    return `${touches}|${order === undefined ? '–' : `day ${Math.floor(day(order.timeS))}`}`;
  });
  const kinds = [...Map.groupBy(stories, (story) => story)].map(([story, users]) => [
    String(users.length),
    ...story.split('|'),
  ]);

  const after = (per: Float64Array, base: number): number[] =>
    Array.from(per, (excess, c) => (excess + base) * prav.exposures[c]!);
  const orders = after(prav.lift, prav.y0);
  const visits = after(prav.pull, prav.v0);
  const mean = (sums: readonly number[]): string[] => shares(sums.map((sum, c) => sum / prav.exposures[c]!));
  const whole = (values: ArrayLike<number>): string[] => Array.from(values, (value) => print(value, 0));
  const overPlacebos = (of: Float64Array): number => total(placebos.map((b) => prav.exposures[b]! * of[b]!));
  const [retargeting, social] = paid as [number, number];

  const sd = (c: number): number => {
    const three = (['markov', 'shapley', 'prav'] as const).map((member) => causal.memberShare[member]![c]!);
    return Math.sqrt(total(three.map((share) => (share - total(three) / 3) ** 2)) / 3);
  };
  const lastClick = causal.lastClickCents.map((cents) => cents / 100);
  const truth = new Map([
    ['retargeting', 0],
    ['social', 500],
  ]);
  const prior = figures('causal', {
    channels,
    isBaseline,
    confidenceLevel: 0.95,
    totals,
    comparison,
    members: { markov, shapley, dominance, rwa, prav: insufficientData('no users') },
    spend: new Float64Array(channels.length),
    isOwnedMedia: new Uint8Array(channels.length),
    experiments: [],
  });
  const { deltaR } = causal;
  const { rules } = comparison;
  const answers: readonly (readonly [string, ArrayLike<number>])[] = [
    ['in truth', channels.map((channel) => truth.get(channel) ?? 0)],
    ...RULES.slice(0, 3).map(([rule, name]) => [name, rules[rule].value] as const),
    // Dominance and relative weights list the channels in the same order: the paths hold all of them.
    ['Markov', markov.value],
    ['Shapley', shapley.value],
    ['dominance', dominance.value],
    ['relative weights', rwa.value],
    ['PRAV', prav.value],
    ['causal', causal.value],
  ];
  return [
    {
      page: 'prav',
      heading: '## By hand',
      tables: [
        [['users', 'touches (day: channel)', 'order'], ...kinds],
        [
          ['channel', 'n', 'conversions after', 'visits after', 'mean y', 'mean v', 'D', 'S'],
          ...byChannel(
            channels,
            whole(prav.exposures),
            whole(orders),
            whole(visits),
            mean(orders),
            mean(visits),
            shares(prav.lift),
            shares(prav.pull),
          ),
        ],
        [
          [
            'channel',
            'effect per touch',
            'touches',
            'incremental conversions',
            'incremental revenue',
            'standard error',
            'interval from',
            'to',
          ],
          ...byChannel(
            names,
            shares(pick(prav.effect)),
            whole(pick(prav.touches)),
            amounts(pick(prav.conversions)),
            amounts(pick(prav.value)),
            amounts(pick(prav.standardError)),
            amounts(pick(prav.intervalLow)),
            amounts(pick(prav.intervalHigh)),
          ),
        ],
      ],
      figures: [
        prav.y0,
        prav.v0,
        ...prav.lift,
        ...prav.pull,
        overPlacebos(prav.lift),
        overPlacebos(prav.pull),
        prav.kappa,
        prav.kappa * prav.pull[retargeting]!,
        prav.value[social]!,
        prav.standardError[social]!,
        twoSidedZ(0.95),
        ...prav.kappaRange,
      ],
    },
    {
      page: 'causal',
      heading: '## By hand',
      tables: [
        [
          ['model', ...names, 'weight'],
          ...Object.entries(causal.memberShare).map(([member, share]) => [
            member,
            ...shares(pick(share)),
            print(causal.weights[member as 'prav'], 4),
          ]),
        ],
        [
          [
            'channel',
            'share',
            'causal revenue',
            'interval from',
            'to',
            'sd of shares',
            'confidence',
            'last click',
            'in truth',
          ],
          ...byChannel(
            names,
            shares(pick(causal.share)),
            amounts(pick(causal.value)),
            amounts(pick(causal.intervalLow)),
            amounts(pick(causal.intervalHigh)),
            shares(paid.map(sd)),
            shares(pick(causal.confidence)),
            amounts(pick(lastClick)),
            amounts(names.map((name) => truth.get(name)!)),
          ),
        ],
      ],
      figures: [
        totals.revenue,
        causal.incrementalRevenue,
        causal.baselineRevenue,
        causal.overallConfidence,
        causal.weights.markov,
        causal.weights.prav,
        causal.share[social]!,
        ...(['markov', 'prav'] as const).map((member) => causal.memberShare[member]![social]!),
        causal.intervalLow[social]!,
        causal.intervalHigh[social]!,
        sd(social),
        causal.confidence[social]!,
        ...causal.tests.flatMap(({ status, estimate }) => (status === 'fail' ? [estimate!] : [])),
      ],
    },
    { page: 'causal', heading: '## Without users or placebos', tables: [], figures: Object.values(prior.weights) },
    {
      page: 'delta-r',
      heading: '## By hand',
      tables: [
        [
          ['channel', 'causal', 'last click', 'delta_r', 'under-credited'],
          ...byChannel(
            names,
            amounts(pick(causal.value)),
            amounts(pick(lastClick)),
            amounts(pick(deltaR.deltaCents).map((cents) => cents / 100)),
            paid.map((c) => (deltaR.underCredited.includes(c) ? 'yes' : 'no')),
          ),
        ],
      ],
      figures: [
        deltaR.revenueCausalCents,
        deltaR.revenueLastClickCents,
        deltaR.deltaRCents,
        deltaR.deltaRNetCents,
        -deltaR.deltaCents[retargeting]!,
        deltaR.lowCents,
        deltaR.highCents,
      ].map((cents) => cents / 100),
    },
    {
      page: 'delta-r',
      heading: '## Fees',
      tables: [],
      figures: [
        0.05,
        deltaR.deltaRCents / 100,
        ...[BigInt(deltaR.deltaRCents), 0n].map((cents) => Number(platformFeeCents(cents)) / 100),
      ],
    },
    {
      page: 'delta-r',
      heading: '## When it misleads',
      tables: [],
      figures: [1 / Math.sqrt(2 * Math.PI), 300 / Math.sqrt(2 * Math.PI)],
    },
    {
      page: 'README',
      heading: '## One toy, all models',
      tables: [
        [
          ['answer', ...names, 'all marketing'],
          ...answers.map(([name, credit]) => [name, ...amounts(pick(credit)), print(total(pick(credit)), 2)]),
        ],
      ],
      figures: [totals.revenue, causal.baselineRevenue],
    },
  ];
}
