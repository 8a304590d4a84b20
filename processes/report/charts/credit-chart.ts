import type { CustomSeriesRenderItem } from 'echarts';
import type { ReportedChannel } from '../attribution-report.ts';
import type { NumberFormat } from '../number-format.ts';
import { FAINT_TEXT, INK, renderChart, TEXT } from './render-chart.ts';

const ROW_HEIGHT = 46;

/** Credited against last-click revenue per channel, with a whisker over the interval. Channels from top to bottom. */
export function creditChart(channels: readonly ReportedChannel[], creditName: string, format: NumberFormat): string {
  const width = 940;
  const height = 84 + ROW_HEIGHT * channels.length;
  const option = {
    grid: { left: 8, right: 76, top: 40, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    legend: {
      top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 22, textStyle: TEXT,
      data: [{ name: creditName }, { name: 'last click' }],
    },
    xAxis: {
      type: 'value', min: 0,
      axisLabel: { ...FAINT_TEXT, formatter: (value: number) => format.shortMoney(value), hideOverlap: true },
      splitLine: { lineStyle: { color: INK.line, width: 1 } },
      axisLine: { show: false }, axisTick: { show: false },
    },
    yAxis: {
      type: 'category', inverse: true, data: channels.map((channel) => channel.channel),
      axisLabel: { ...TEXT, width: 170, overflow: 'truncate', interval: 0 }, axisLine: { lineStyle: { color: INK.faint } }, axisTick: { show: false },
    },
    series: [
      {
        name: creditName, type: 'bar', barWidth: 15, barGap: '18%', itemStyle: { color: INK.causal, borderRadius: [0, 3, 3, 0] },
        data: channels.map((channel) => channel.attributed_revenue),
      },
      {
        name: 'last click', type: 'bar', barWidth: 9, itemStyle: { color: INK.lastClick, borderRadius: [0, 2, 2, 0] },
        data: channels.map((channel) => channel.lastclick_revenue),
      },
      {
        type: 'custom', renderItem: drawWhisker, z: 5, encode: { x: [1, 2, 3], y: 0 },
        data: channels.flatMap((channel, row) => {
          const interval = channel.confidence_interval;
          return interval === null ? [] : [[row, interval.lower, interval.upper, channel.attributed_revenue]];
        }),
      },
    ],
  };
  const description = `Revenue per channel, ${creditName} against last click: ${channels.map((channel) => `${channel.channel} ${format.money(channel.attributed_revenue)} against ${format.money(channel.lastclick_revenue)}`).join('; ')}.`;
  return renderChart(option, { width, height, description });
}

/** A line from the lower to the upper bound with end caps, over the upper one of the two bars. */
const drawWhisker: CustomSeriesRenderItem = (_, api) => {
  const row = api.value(0);
  const [lowX, y] = api.coord([api.value(1), row]) as [number, number];
  const [highX] = api.coord([api.value(2), row]) as [number, number];
  const centre = y - 5.8;
  const style = { stroke: INK.whisker, lineWidth: 1.5, fill: 'none' };
  const stroke = (x1: number, y1: number, x2: number, y2: number) => ({ type: 'line' as const, shape: { x1, y1, x2, y2 }, style });
  return {
    type: 'group',
    children: [stroke(lowX, centre, highX, centre), stroke(lowX, centre - 4, lowX, centre + 4), stroke(highX, centre - 4, highX, centre + 4)],
  };
};
