import type { ReportedChannel, ReportedPeriod } from '../attribution-report.ts';
import { figureOf } from '../figure-of.ts';
import type { NumberFormat } from '../number-format.ts';
import { FAINT_TEXT, INK, renderChart, TEXT } from './render-chart.ts';

/** Channels in a colour of their own; the others are drawn as one. */
const MAX_NAMED = INK.series.length;

/** Credited revenue by period, a stacked bar each; the channels with the most credit first, from the bottom up. */
export function timeChart(
  periods: readonly ReportedPeriod[],
  channels: readonly ReportedChannel[],
  format: NumberFormat,
): string {
  const named = channels.slice(0, MAX_NAMED).map(({ channel }, index) => ({
    name: channel,
    colour: INK.series[index]!,
    of: (period: ReportedPeriod) => figureOf(period.channels, channel) ?? 0,
  }));
  const others = channels.slice(MAX_NAMED);
  const rest = {
    name: `${others.length} others`,
    colour: INK.faint,
    of: (period: ReportedPeriod) =>
      others.reduce((sum, { channel }) => sum + (figureOf(period.channels, channel) ?? 0), 0),
  };
  const drawn = others.length === 0 ? named : [...named, rest];
  const option = {
    grid: { left: 8, right: 12, top: 44, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 22, textStyle: TEXT },
    xAxis: {
      type: 'category',
      data: periods.map((period) => `${period.period_start}${period.partial ? '*' : ''}`),
      axisLabel: { ...FAINT_TEXT, hideOverlap: true, showMaxLabel: true },
      axisLine: { lineStyle: { color: INK.faint } },
      axisTick: { show: false },
    },
    yAxis: {
      type: 'value',
      axisLabel: { ...FAINT_TEXT, formatter: (value: number) => format.shortMoney(value) },
      splitLine: { lineStyle: { color: INK.line, width: 1 } },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: drawn.map(({ name, colour, of }) => ({
      name,
      type: 'bar',
      stack: 'credit',
      barMaxWidth: 34,
      barCategoryGap: '22%',
      itemStyle: { color: colour },
      data: periods.map(of),
    })),
  };
  const most = periods.reduce((best, period) => (sumOf(period, channels) > sumOf(best, channels) ? period : best));
  const description =
    `Revenue credited to paid channels in ${periods.length} periods from ` +
    `${periods[0]!.period_start}; the most, ${format.money(sumOf(most, channels))}, in that from ${most.period_start}.`;
  return renderChart(option, { width: 940, height: 380, description });
}

const sumOf = (period: ReportedPeriod, channels: readonly ReportedChannel[]): number =>
  channels.reduce((sum, { channel }) => sum + (figureOf(period.channels, channel) ?? 0), 0);
