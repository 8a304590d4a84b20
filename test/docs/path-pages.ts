import { pathExample } from '../../bench/concepts/worked-examples.ts';
import { pathTable } from '../compute/reference-data.ts';
import { figures } from '../compute/run-in-thread.ts';
import { amounts, byChannel, print, RULES, shares, total, type Worked } from './printed-figures.ts';

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
