import type { ReportedChannel } from '../attribution-report.ts';
import { figureOf } from '../figure-of.ts';
import { FAINT_TEXT, INK, renderChart, TEXT } from './render-chart.ts';

const ROW_HEIGHT = 34;
const SYMBOLS = [
  'circle',
  'rect',
  'triangle',
  'diamond',
  'path://M0-10 2.9-3.6 9.8-3.1 4.6 1.6 6.1 8.4 0 4.9-6.1 8.4-4.6 1.6-9.8-3.1-2.9-3.6Z',
] as const;
const NAMES: Readonly<Record<string, string>> = {
  markov: 'Markov',
  shapley: 'Shapley',
  dominance: 'dominance',
  rwa: 'relative weights',
  prav: 'PRAV',
};

/**
 * One row per channel, one mark per model at the share that it gives the channel among the paid ones; the bar is the
 * published share. Marks close together: the models agree.
 */
export function agreementChart(
  channels: readonly ReportedChannel[],
  breakdown: Readonly<Record<string, Readonly<Record<string, number>>>>,
  published: string,
): string {
  const names = channels.map((channel) => channel.channel);
  const shares = new Map(Object.entries(breakdown).map(([model, byChannel]) => [model, sharesAmong(names, byChannel)]));
  const credited = sharesAmong(
    names,
    Object.fromEntries(channels.map((channel) => [channel.channel, channel.attributed_revenue])),
  );
  const option = {
    grid: { left: 8, right: 24, top: 40, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 30, textStyle: TEXT },
    xAxis: {
      type: 'value',
      // From 0, unless a channel does harm.
      ...(credited.every((share) => share >= 0) && { min: 0 }),
      axisLabel: { ...FAINT_TEXT, formatter: (share: number) => `${Math.round(100 * share)} %` },
      splitLine: { lineStyle: { color: INK.line, width: 1 } },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: names,
      axisLabel: { ...TEXT, width: 170, overflow: 'truncate', interval: 0 },
      axisLine: { lineStyle: { color: INK.faint } },
      axisTick: { show: false },
    },
    series: [
      {
        name: `${published} (published)`,
        type: 'bar',
        barWidth: 18,
        itemStyle: { color: 'var(--causal-soft)', borderRadius: [0, 3, 3, 0] },
        data: credited,
        z: 1,
      },
      ...[...shares].map(([model, values], index) => ({
        name: NAMES[model] ?? model,
        type: 'scatter',
        symbol: SYMBOLS[index % SYMBOLS.length],
        symbolSize: index === 4 ? 15 : 11,
        z: 3,
        itemStyle: { opacity: 1, color: INK.series[index % INK.series.length], borderColor: INK.paper, borderWidth: 1 },
        data: values.map((share, row) => [share, row]),
      })),
    ],
  };
  const description =
    `Share of each channel by model. ` +
    `${names
      .map(
        (name, row) =>
          `${name}: ${[...shares]
            .map(([model, values]) => `${NAMES[model] ?? model} ${Math.round(100 * values[row]!)} %`)
            .join(', ')}`,
      )
      .join('; ')}.`;
  return renderChart(option, { width: 940, height: 84 + ROW_HEIGHT * names.length, description });
}

/** Path models share out unpaid visits too; among the paid channels alone the models can be compared. */
function sharesAmong(names: readonly string[], amounts: Readonly<Record<string, number>>): readonly number[] {
  const values = names.map((name) => Math.max(0, figureOf(amounts, name) ?? 0));
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (total > 0 ? value / total : 0));
}
