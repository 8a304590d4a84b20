import { pathExample, visitExample } from '../../bench/concepts/worked-examples.ts';
import { twoSidedZ } from '../../compute/numerics/normal-quantile.ts';
import { insufficientData } from '../../compute/outcome.ts';
import { DAY_S } from '../../compute/run-options.ts';
import { platformFeeCents } from '../../schema/platform-fee.ts';
import { pathTable } from '../compute/reference-data.ts';
import { figures } from '../compute/run-in-thread.ts';
import type { Table } from './markdown.ts';

/** What a page's worked example must say: its tables cell by cell, and every decimal number that its text may hold. */
export interface Worked {
  readonly page: string;
  readonly heading: string;
  readonly tables: readonly Table[];
  readonly figures: readonly number[];
}

const print = (value: number, decimals: number): string => {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
};
const shares = (values: ArrayLike<number>): string[] => Array.from(values, (value) => print(value, 4));
const amounts = (values: ArrayLike<number>): string[] => Array.from(values, (value) => print(value, 2));
const total = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, value) => sum + value, 0);
/** One row per channel: its name, then a cell of each column. */
const byChannel = (channels: readonly string[], ...columns: readonly (readonly string[])[]): string[][] =>
  channels.map((channel, c) => [channel, ...columns.map((column) => column[c]!)]);

const RULES = [
  ['last', 'last click'],
  ['first', 'first click'],
  ['linear', 'linear'],
  ['position', 'position'],
  ['timeDecay', 'time decay'],
] as const;

/** The pages that work journeys.csv through. */
export function pathPages(): Worked[] {
  const example = pathExample();
  const { rows, channels, markov, shapley, dominance, rwa, rules, transitions, subsets, counterparts } = example;
  const journeys = [
    ['path', 'conversions', 'revenue', 'nulls'],
    ...rows.map(({ path, conversions, value, nulls }) => [
      path.join(' > '),
      ...[conversions, value, nulls].map(String),
    ]),
  ];
  const states = [...channels, 'conversion', 'null'];
  const fromEach = ['start', ...channels].map((from) => states.map((to) => transitions(from, to)));
  // From the back: no walk of these data returns.
  const converts = new Map([
    ['conversion', 1],
    ['null', 0],
  ]);
  for (const from of ['email', 'search', 'video', 'start'])
    converts.set(from, total(states.map((to) => transitions(from, to) * (converts.get(to) ?? 0))));
  const left = Array.from(markov.removalEffect, (effect) => markov.probability * (1 - effect));

  const dividends = rows.map(({ path, conversions }) =>
    channels.map((channel) => (path.includes(channel) ? conversions / new Set(path).size : 0)),
  );
  const worth = (...members: readonly string[]): number =>
    total(
      rows.filter(({ path }) => path.every((step) => members.includes(step))).map(({ conversions }) => conversions),
    );
  const joins = [
    worth('video') / 3,
    (worth('video', 'search') - worth('search')) / 6,
    (worth('video', 'email') - worth('email')) / 6,
    (worth(...channels) - worth('search', 'email')) / 3,
  ];

  const withChannel = channels.map((channel) => rows.filter(({ path }) => path.includes(channel)));
  const gains = channels.map((_, c) =>
    [0, 1, 2].map((size) => {
      const sets = subsets.flatMap((_, code) =>
        ((code >> c) & 1) === 0 && code.toString(2).replaceAll('0', '').length === size ? [code] : [],
      );
      return total(sets.map((code) => subsets[code | (1 << c)]! - subsets[code]!)) / sets.length;
    }),
  );
  const nameOf = (code: number): string => channels.filter((_, c) => (code >> c) & 1).join(' + ') || 'none';
  const association = dominance.conversionOutcome;
  const relative = rwa.conversionOutcome;
  const signs = (sign: Int8Array): string[] => Array.from(sign, (value) => print(value, 0));
  const { between, withConversion, root, beta } = counterparts;
  const matrixRows = (matrix: Float64Array, ...more: readonly (readonly number[])[]): string[][] =>
    channels.map((channel, i) => [
      channel,
      ...shares(matrix.slice(i * 3, i * 3 + 3)),
      ...more.map((column) => print(column[i]!, 4)),
    ]);

  const last = rows.at(-1)!;
  const lastAlone = figures('comparison', {
    paths: pathTable([last], channels),
    unattributed: { conversions: 0, value: 0 },
  }).rules;
  const decay = [3, 2, 1].map((steps) => 2 ** (-steps / 7));
  return [
    {
      page: 'markov',
      heading: '## By hand',
      tables: [
        journeys,
        [['from', ...states], ...fromEach.map((row, i) => [['start', ...channels][i]!, ...shares(row)])],
        [
          ['removed', 'P without it', 'removal effect', 'share', 'conversions', 'revenue'],
          ...byChannel(
            channels,
            shares(left),
            shares(markov.removalEffect),
            shares(markov.share),
            amounts(markov.conversions),
            amounts(markov.value),
          ),
        ],
      ],
      figures: [...fromEach.flat(), ...converts.values(), ...left, total(markov.removalEffect), markov.probability],
    },
    {
      page: 'shapley',
      heading: '## By hand',
      tables: [
        [
          ['path', 'conversions', ...channels],
          ...rows.map(({ path, conversions }, i) => [path.join(' > '), String(conversions), ...amounts(dividends[i]!)]),
          ['Shapley value', String(total(shapley.conversions)), ...amounts(shapley.conversions)],
        ],
        [
          ['channel', 'share', 'conversions', 'revenue', 'last click'],
          ...byChannel(
            channels,
            shares(shapley.share),
            amounts(shapley.conversions),
            amounts(shapley.value),
            amounts(rules.last.value),
          ),
        ],
      ],
      figures: [...joins, total(joins)],
    },
    {
      page: 'dominance',
      heading: '## By hand',
      tables: [
        [
          ['channel', 'journeys with it', 'of them converted', 'correlation with conversion'],
          ...byChannel(
            channels,
            withChannel.map((some) => String(total(some.map(({ conversions, nulls }) => conversions + nulls)))),
            withChannel.map((some) => String(total(some.map(({ conversions }) => conversions)))),
            shares(withConversion),
          ),
        ],
        [['channels', 'R²'], ...subsets.map((r2, code) => [nameOf(code), print(r2, 4)])],
        [
          ['channel', 'to none', 'to one', 'to two', 'weight', 'share', 'conversions', 'sign'],
          ...byChannel(
            channels,
            ...[0, 1, 2].map((size) => shares(gains.map((gain) => gain[size]!))),
            shares(association.weight),
            shares(association.share),
            amounts(dominance.conversions),
            signs(association.sign),
          ),
        ],
      ],
      figures: [
        ...subsets,
        withConversion[0]!,
        subsets[3]! - subsets[2]!,
        subsets[5]! - subsets[4]!,
        gains[0]![1]!,
        association.share[0]!,
        association.r2,
      ],
    },
    {
      page: 'relative-weights',
      heading: '## By hand',
      tables: [
        [['R', ...channels, 'r'], ...matrixRows(between, withConversion)],
        [
          ['Λ', ...channels, 'β', 'β²'],
          ...matrixRows(
            root,
            beta,
            beta.map((b) => b * b),
          ),
        ],
        [
          ['channel', 'relative weight', 'share', 'conversions', 'sign', 'dominance weight'],
          ...byChannel(
            channels,
            shares(relative.weight),
            shares(relative.share),
            amounts(rwa.conversions),
            signs(relative.sign),
            shares(association.weight),
          ),
        ],
      ],
      figures: [
        ...root,
        ...Array.from(root, Math.abs),
        ...beta,
        ...beta.map((b) => b * b),
        withConversion[2]!,
        relative.weight[0]!,
      ],
    },
    {
      page: 'rules',
      heading: '## By hand',
      tables: [lastAlone, rules].map((credits) => [
        ['rule', ...channels],
        ...RULES.map(([rule, name]) => [name, ...amounts(credits[rule].conversions)]),
      ]),
      figures: [...decay, total(decay) + 1],
    },
  ];
}

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
      figures: [0.05, deltaR.deltaRCents / 100, platformFeeCents(deltaR.deltaRCents) / 100, platformFeeCents(0) / 100],
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
