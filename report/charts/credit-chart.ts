import type { CustomSeriesRenderItem } from 'echarts';
import type { ReportedChannel } from '../attribution-report.ts';
import { isMeasurable } from '../shown-channels.ts';
import { NOT_MEASURABLE } from '../identification-notes.ts';
import type { NumberFormat } from '../number-format.ts';
import { axisEnd } from './axis-end.ts';
import { FAINT_TEXT, INK, renderChart, TEXT } from './render-chart.ts';

const ROW_HEIGHT = 46;
/**
 * How far the axis follows the intervals, in lengths of the longest bar: one uncertain channel must not flatten all
 * others.
 */
const LONGEST_WHISKER = 1.5;

/** Marks the bar of a channel whose effect is known in part. */
const HATCHING = { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [3, 4], rotation: -Math.PI / 4, color: INK.paper };

/**
 * Credited against last-click revenue per channel, with a whisker over the interval; an arrow says that it goes on.
 * Channels from top to bottom.
 */
export function creditChart(channels: readonly ReportedChannel[], creditName: string, format: NumberFormat): string {
  const width = 940;
  const height = 84 + ROW_HEIGHT * channels.length;
  const longestBar = Math.max(
    1,
    ...channels.flatMap((channel) => [Math.abs(channel.attributed_revenue), channel.lastclick_revenue]),
  );
  const longestWhisker = Math.max(0, ...channels.map((channel) => channel.confidence_interval?.upper ?? 0));
  const end = axisEnd(Math.max(longestBar, Math.min(longestWhisker, LONGEST_WHISKER * longestBar)));
  const lowest = Math.min(0, ...channels.map((channel) => channel.confidence_interval?.lower ?? 0));
  const start = lowest === 0 ? 0 : -axisEnd(Math.min(-lowest, LONGEST_WHISKER * longestBar));
  const option = {
    grid: { left: 8, right: 76, top: 40, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    legend: {
      top: 0,
      left: 0,
      itemWidth: 12,
      itemHeight: 12,
      itemGap: 22,
      textStyle: TEXT,
      data: [{ name: creditName }, { name: 'last click' }],
    },
    xAxis: {
      type: 'value',
      min: start,
      max: end,
      axisLabel: { ...FAINT_TEXT, formatter: (value: number) => format.shortMoney(value), hideOverlap: true },
      splitLine: { lineStyle: { color: INK.line, width: 1 } },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: channels.map((channel) =>
        isMeasurable(channel) ? channel.channel : `${channel.channel}\n(${NOT_MEASURABLE})`,
      ),
      axisLabel: { ...TEXT, width: 170, overflow: 'truncate', interval: 0 },
      // Names stand beside the plot, wherever 0 is.
      axisLine: { show: false, onZero: false },
      axisTick: { show: false },
    },
    series: [
      {
        name: creditName,
        type: 'bar',
        barWidth: 15,
        barGap: '18%',
        itemStyle: { color: INK.causal },
        data: channels.map((channel) => ({
          value: channel.attributed_revenue,
          itemStyle: {
            borderRadius: channel.attributed_revenue < 0 ? [3, 0, 0, 3] : [0, 3, 3, 0],
            ...(channel.identification?.status === 'partial' && { decal: HATCHING }),
          },
        })),
        markLine: {
          symbol: 'none',
          label: { show: false },
          lineStyle: { type: 'solid', color: INK.faint, width: 1 },
          data: [{ xAxis: 0 }],
        },
      },
      {
        name: 'last click',
        type: 'bar',
        barWidth: 9,
        itemStyle: { color: INK.lastClick, borderRadius: [0, 2, 2, 0] },
        data: channels.map((channel) => channel.lastclick_revenue),
      },
      {
        type: 'custom',
        renderItem: drawWhisker,
        z: 5,
        encode: { x: [1, 2], y: 0 },
        data: channels.flatMap((channel, row) => {
          const interval = channel.confidence_interval;
          if (interval === null) return [];
          const { lower, upper } = interval;
          return [[row, Math.max(lower, start), Math.min(upper, end), Number(lower < start), Number(upper > end)]];
        }),
      },
    ],
  };
  const description =
    `Revenue per channel, ${creditName} against last click: ` +
    `${channels
      .map(
        (channel) =>
          `${channel.channel} ` +
          `${isMeasurable(channel) ? format.money(channel.attributed_revenue) : NOT_MEASURABLE} against ` +
          `${format.money(channel.lastclick_revenue)}`,
      )
      .join('; ')}.`;
  return renderChart(option, { width, height, description });
}

/**
 * A line from the lower to the upper bound with end caps, over the upper one of the two bars; an arrow where it leaves
 * the axis.
 */
const drawWhisker: CustomSeriesRenderItem = (_, api) => {
  const row = api.value(0);
  const [lowX, y] = api.coord([api.value(1), row]) as [number, number];
  const [highX] = api.coord([api.value(2), row]) as [number, number];
  const centre = y - 5.8;
  const style = { stroke: INK.whisker, lineWidth: 1.5, fill: 'none' };
  const stroke = (x1: number, y1: number, x2: number, y2: number) => ({
    type: 'line' as const,
    shape: { x1, y1, x2, y2 },
    style,
  });
  /** An end cap, or an arrow that points out of the plot. */
  const end = (x: number, goesOn: boolean, inwards: number) =>
    goesOn
      ? [stroke(x + inwards, centre - 4, x, centre), stroke(x + inwards, centre + 4, x, centre)]
      : [stroke(x, centre - 4, x, centre + 4)];
  return {
    type: 'group',
    children: [
      stroke(lowX, centre, highX, centre),
      ...end(lowX, api.value(3) === 1, 6),
      ...end(highX, api.value(4) === 1, -6),
    ],
  };
};
