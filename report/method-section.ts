import { z } from 'zod';
import type { AttributionReport } from './attribution-report.ts';
import { fact } from './fact.ts';
import { figureOf } from './figure-of.ts';
import { html, type Markup } from './html.ts';
import { isIncremental } from './judgement.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';
import { marginWords } from './margin.ts';
import { baselineChannels, paidChannels } from './shown-channels.ts';

/** What a causal run says of how it came about. */
const CausalModel = z.object({
  weights: z.record(z.string(), z.number()),
  spend_weight: z.record(z.string(), z.number()).optional(),
});

export const MODEL_NAMES: Readonly<Record<string, string>> = {
  markov: 'Markov',
  shapley: 'Shapley',
  dominance: 'dominance',
  rwa: 'relative weights',
  prav: 'PRAV',
};

const WHAT_IT_ASKS: Readonly<Record<string, string>> = {
  markov: 'Markov asks how many orders are lost when a channel is taken out of the flow of visits.',
  shapley: 'Shapley shares each order equally among the channels that took part.',
  dominance: 'Dominance measures which channels go along with orders, caused or not.',
  rwa: 'Relative weights measure which channels go along with orders, caused or not.',
  prav:
    'PRAV asks what a touch changes: it compares how often people buy after a touch with how often they buy at any ' +
    'time, and uses unpaid visits, which no advertisement bought, as placebos to take out who would have bought ' +
    'anyway.',
};

/** Less weight than this moves no figure that is shown. */
const NO_WEIGHT = 0.0005;

/** How the figures came about, in sentences: of the models that have a part in them, and of no other. */
export function methodSentences(report: AttributionReport): readonly string[] {
  const format = numberFormat(report.currency);
  if (report.model !== 'causal')
    return [
      `This report shows the ${MODEL_NAMES[report.model] ?? report.model} model alone.`,
      ...(WHAT_IT_ASKS[report.model] === undefined ? [] : [WHAT_IT_ASKS[report.model]!]),
    ];
  const causal = CausalModel.safeParse(report.diagnostics.models['causal']);
  if (!causal.success) return ['The causal model says nothing of the weights of its parts.'];
  const { weights, spend_weight: spendWeight = {} } = causal.data;
  const used = Object.entries(weights).filter(([, weight]) => weight >= NO_WEIGHT);
  const unused = Object.keys(weights).filter((model) => !used.some(([name]) => name === model));
  const names = (models: readonly string[]): string => models.map((model) => MODEL_NAMES[model] ?? model).join(', ');
  return [
    isIncremental(report)
      ? 'Weights are learned by how well the models foretell measured change on shoppers they have not seen.'
      : 'Here PRAV could not run, so that nothing measures change: the result combines the other models by published ' +
        'weights, and its credit is what they share out.',
    used.length === 1
      ? `All weight is on ${names([used[0]![0]])}.`
      : `The weights are ${used.map(([model, weight]) => `${names([model])} ${format.percent(weight)}`).join(', ')}.`,
    ...used.flatMap(([model]) => WHAT_IT_ASKS[model] ?? []),
    ...(unused.length === 0
      ? []
      : [`${names(unused)}: computed to compare with, without any part in the credit of these figures.`]),
    ...spendSentence(report, spendWeight, format),
    ...experimentsSentence(report),
  ];
}

/** How much of the credit stands on what channels cost, and not on what people did. */
function spendSentence(
  report: AttributionReport,
  spendWeight: Readonly<Record<string, number>>,
  format: NumberFormat,
): readonly string[] {
  const paid = paidChannels(report).filter(({ attributed_revenue: credit }) => credit > 0);
  const credit = paid.reduce((sum, channel) => sum + channel.attributed_revenue, 0);
  const onSpend = paid.reduce(
    (sum, { channel, attributed_revenue: own }) => sum + own * (figureOf(spendWeight, channel) ?? 0),
    0,
  );
  if (!(credit > 0) || onSpend / credit < NO_WEIGHT) return [];
  return [
    `Where rows say little, credit leans on what such spend usually brings: ${format.percent(onSpend / credit)} of ` +
      'the credit stands on that, before experiments.',
  ];
}

const experimentsSentence = ({ diagnostics: { experiments } }: AttributionReport): readonly string[] =>
  experiments.length === 0
    ? []
    : [`${experiments.length === 1 ? 'An experiment calibrates' : `${experiments.length} experiments calibrate`} it.`];

/** How the figures came about, and how to reproduce them. */
export function methodSection(report: AttributionReport): Markup {
  const format = numberFormat(report.currency);
  const { diagnostics, unattributed_revenue: untouched } = report;
  const margin = marginWords(report);
  const unpaid = baselineChannels(report)
    .map((channel) => channel.channel)
    .join(', ');
  return html`<h2>How the figures came about</h2>
    <p>${methodSentences(report).join(' ')}</p>
    <dl>
      ${fact('period', report.date_range.join(' to '))} ${fact('method', html`<code>${report.methodology}</code>`)}
      ${fact(
        'data',
        `${format.count(report.conversions)} orders, ${format.count(diagnostics.touches)} touches, ` +
          `${format.count(diagnostics.journeys)} journeys of which ${format.count(diagnostics.converting_journeys)} ` +
          `end in an order`,
      )}
      ${fact('lookback', `${report.lookback_window_days} days before an order`)}
      ${margin === null ? null : fact('break-even and profit', `at ${margin}`)}
      ${unpaid === '' ? null : fact('unpaid visits (baseline)', unpaid)}
      ${untouched > 0 ? fact('orders without any touch', format.money(untouched)) : null}
      ${fact('digest of the figures', html`<code>${diagnostics.run_digest}</code>`)}
    </dl>`;
}
