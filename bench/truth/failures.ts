import { sharesOf } from './accuracy.ts';
import { barsOf, channelWorlds, errorsOf, intervalsOf, LARGE, shareErrorOf, totalErrorOf, works } from './summary.ts';
import type { ChannelWorld } from './summary.ts';
import type { WorldRecord } from './world-record.ts';

const WORST = 5;
const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;
const said = (family: string): string => family.replaceAll('_', ' ');

/** The failure cases in words, worst first; every sentence follows from the records. */
export function failuresOf(records: readonly WorldRecord[]): string {
  const working = records.filter(works);
  return [
    missedBars(records),
    worstFamilies(working),
    hardFamilies(working),
    worstWorlds(working),
    biasedChannels(working),
    worstMisses(working),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function missedBars(records: readonly WorldRecord[]): string {
  const missed = barsOf(records)
    .filter(({ met }) => !met)
    .map(({ name, measured, wanted }) => `${name} (${(100 * measured).toFixed(1)} %, wanted ${wanted})`);
  return missed.length === 0 ? '' : `Bars missed: ${missed.join('; ')}.`;
}

function worstFamilies(worlds: readonly WorldRecord[]): string {
  const families = [...Map.groupBy(worlds, ({ family }) => family)].map(([family, some]) => ({
    family,
    errors: errorsOf(some, 'causal'),
    markov: errorsOf(some, 'markov_1').shareError,
  }));
  const ordered = families.toSorted((a, b) => b.errors.shareError - a.errors.shareError);
  const worst = ordered
    .slice(0, 2)
    .map(
      ({ family, errors }) =>
        `${said(family)} worlds (share error ${errors.shareError.toFixed(2)}, total off by ` +
        `${percent(errors.totalError)}, signed ${percent(errors.totalBias)})`,
    );
  const beaten = families.filter(({ errors, markov }) => errors.shareError >= markov).map(({ family }) => said(family));
  const lost = worlds
    .filter((world) => shareErrorOf(world, 'causal') >= shareErrorOf(world, 'markov_1'))
    .map(({ name }) => name);
  return [
    `The causal model does worst in ${worst.join(' and ')}.`,
    beaten.length === 0 ? '' : `Markov divides better in ${beaten.join(', ')}.`,
    lost.length === 0
      ? 'It divides the credit better than Markov in every single world.'
      : `Single worlds in which Markov divides the credit better: ${lost.join(', ')}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

/** Families that break the placebo assumption, or strain it, and what that does. */
const HARD: readonly (readonly [family: string, why: string])[] = [
  [
    'strong_selection',
    'When advertising finds the few who are about to buy, the effect is a small difference of two large figures',
  ],
  ['halo', 'When advertising also brings unpaid visits, it looks like selection and is taken off'],
  ['announced_orders', 'When visits foretell the very orders that advertising caused, they are no placebos either'],
  ['long_stock', 'When effects outlast the 14 days for which a touch is followed, the rest is not seen'],
];

function hardFamilies(worlds: readonly WorldRecord[]): string {
  const lines = HARD.flatMap(([family, why]) => {
    const some = worlds.filter((world) => world.family === family);
    if (some.length === 0) return [];
    const { shareError, totalBias } = errorsOf(some, 'causal');
    const { coverage, power } = intervalsOf(some, 'causal');
    return [
      `- ${said(family)}: ${why}. Share error ${shareError.toFixed(2)}, total ` +
        `${totalBias >= 0 ? 'over' : 'under'}stated by ${percent(Math.abs(totalBias))} on average, ` +
        `${percent(coverage)} of the intervals cover, power ${percent(power ?? 0)}.`,
    ];
  });
  return lines.length === 0 ? '' : `Where trouble was to be expected:\n\n${lines.join('\n')}`;
}

function worstWorlds(worlds: readonly WorldRecord[]): string {
  const lines = worlds
    .toSorted((a, b) => shareErrorOf(b, 'causal') - shareErrorOf(a, 'causal'))
    .slice(0, WORST)
    .map((world) => {
      const truth = sharesOf(world.truth);
      const share = sharesOf(world.estimates.causal.credit);
      const apart = world.channels
        .map((channel, c) => ({ channel, truth: truth[c]!, share: share[c]! }))
        .toSorted((a, b) => Math.abs(b.share - b.truth) - Math.abs(a.share - a.truth))
        .slice(0, 2);
      const words = apart.map(
        (one) => `${one.channel} is given ${percent(one.share)} and earned ${percent(one.truth)}`,
      );
      return (
        `- ${world.name}: share error ${shareErrorOf(world, 'causal').toFixed(2)}, total ` +
        `${totalErrorOf(world, 'causal') >= 0 ? 'over' : 'under'}stated by ` +
        `${percent(Math.abs(totalErrorOf(world, 'causal')))}; ${words.join(', ')}.`
      );
    });
  return `The worlds with the largest share errors:\n\n${lines.join('\n')}`;
}

/** Channels that are credited too much or too little on average, over the worlds that have them. */
function biasedChannels(worlds: readonly WorldRecord[]): string {
  const all = worlds.flatMap((world) => {
    const truth = sharesOf(world.truth);
    return sharesOf(world.estimates.causal.credit).map((share, c) => ({
      channel: world.channels[c]!,
      apart: share - truth[c]!,
    }));
  });
  const means = [...Map.groupBy(all, ({ channel }) => channel)]
    .filter(([, some]) => some.length >= WORST)
    .map(([channel, some]) => ({ channel, mean: some.reduce((sum, { apart }) => sum + apart, 0) / some.length }));
  const ordered = means.toSorted((a, b) => a.mean - b.mean);
  const words = (some: typeof ordered): string =>
    some
      .map(
        ({ channel, mean }) =>
          `${channel} (${mean >= 0 ? '+' : '−'}${(100 * Math.abs(mean)).toFixed(1)} points of share)`,
      )
      .join(', ');
  return (
    `On average over the worlds, the causal model gives too little to ${words(ordered.slice(0, 2))} and too ` +
    `much to ${words(ordered.toReversed().slice(0, 2))}.`
  );
}

function worstMisses(worlds: readonly WorldRecord[]): string {
  const missed = channelWorlds(worlds, 'causal').filter((one) => !one.covered);
  if (missed.length === 0) return '';
  const distance = ({ truth, low, high, world }: ChannelWorld): number =>
    Math.max(low - truth, truth - high) / world.truthTotal;
  const above = missed.filter(({ truth, high }) => truth > high).length;
  const lines = missed
    .toSorted((a, b) => distance(b) - distance(a))
    .slice(0, WORST)
    .map((one) => {
      const part = (value: number): string => percent(value / one.world.truthTotal);
      return (
        `- ${one.world.name}, ${one.channel}: truth ${part(one.truth)} of the true total, interval ` +
        `${part(one.low)} to ${part(one.high)}.`
      );
    });
  const blind = channelWorlds(worlds, 'causal').filter(
    (one) => one.truth >= LARGE * one.world.truthTotal && !one.significant,
  );
  const channels = [...Map.groupBy(blind, ({ channel }) => channel)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, 3)
    .map(([channel, some]) => `${channel} (${some.length})`);
  return [
    `${missed.length} intervals miss their truth, ${above} because it lies above them. The farthest:`,
    lines.join('\n'),
    blind.length === 0
      ? ''
      : `${blind.length} large channels are not told apart from 0, most often ${channels.join(', ')}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
