import type { ReportedChannel } from '../attribution-report.ts';
import type { NumberFormat } from '../number-format.ts';
import { axisEnd } from './axis-end.ts';
import { labelSides } from './label-sides.ts';
import { FAINT_TEXT, INK, renderChart, TEXT } from './render-chart.ts';

/** About what the axes leave of the picture; labels only have to be told apart. */
const PLOT = { width: 740, height: 360 } as const;

/**
 * Spend against credited revenue, one bubble per channel; above the line a channel earns back more than it costs.
 * @param margin share of revenue that is left after the cost of goods; null where nobody has said it
 */
export function spendChart(
  channels: readonly ReportedChannel[],
  creditName: string,
  format: NumberFormat,
  margin: number | null,
): string {
  const returned = ({ roas, profit_roas: profitRoas = null }: ReportedChannel) => (margin === null ? roas : profitRoas);
  const ratio = margin === null ? 'ROAS' : 'profit ROAS';
  const points = channels.filter((channel) => channel.spend > 0);
  const mostSpend = Math.max(...points.map((channel) => channel.spend));
  const mostRevenue = Math.max(...points.map((channel) => channel.attributed_revenue), 1);
  const axis = (name: string, place: object) => ({
    type: 'value',
    name,
    nameLocation: 'middle',
    nameTextStyle: FAINT_TEXT,
    axisLabel: { ...FAINT_TEXT, formatter: (value: number) => format.shortMoney(value), hideOverlap: true },
    splitLine: { lineStyle: { color: INK.line, width: 1 } },
    axisLine: { lineStyle: { color: INK.faint } },
    axisTick: { show: false },
    ...place,
  });
  const leastRevenue = Math.min(...points.map((channel) => channel.attributed_revenue), 0);
  const bottom = leastRevenue < 0 ? -axisEnd(-leastRevenue * 1.05) : 0;
  const edge = { spend: axisEnd(mostSpend * 1.05), revenue: axisEnd(mostRevenue * 1.05) };
  const labels = points.map((channel) => {
    const multiple = returned(channel);
    return `${channel.channel}  ${multiple === null ? '' : format.multiple(multiple)}`;
  });
  const sides = labelSides(
    points.map((channel, index) => ({
      x: (channel.spend / edge.spend) * PLOT.width,
      y: ((edge.revenue - channel.attributed_revenue) / (edge.revenue - bottom)) * PLOT.height,
      label: labels[index]!,
    })),
    PLOT,
  );
  const rays = [1, 2, 4].map((roas) => {
    const slope = roas / (margin ?? 1);
    const end = Math.min(edge.spend, edge.revenue / slope);
    return {
      type: 'line',
      symbol: 'none',
      z: 1,
      data: [
        [0, 0],
        [end, end * slope],
      ],
      lineStyle: {
        color: roas === 1 ? INK.text : INK.faint,
        width: roas === 1 ? 1.4 : 1,
        type: roas === 1 ? 'solid' : 'dashed',
        opacity: 0.75,
      },
      endLabel: { show: true, formatter: roas === 1 ? 'break-even' : `${ratio} ${roas}`, ...FAINT_TEXT, distance: 6 },
    };
  });
  const option = {
    grid: { left: 28, right: 92, top: 24, bottom: 34, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    xAxis: axis('spend', { min: 0, max: edge.spend, nameGap: 30 }),
    yAxis: axis(`${creditName} revenue`, { min: bottom, max: edge.revenue, nameGap: 58 }),
    series: [
      ...rays,
      {
        type: 'scatter',
        symbolSize: 16,
        z: 4,
        itemStyle: { opacity: 1, color: INK.causal, borderColor: INK.paper, borderWidth: 1.5 },
        data: points.map((channel, index) => ({
          value: [channel.spend, channel.attributed_revenue],
          label: { formatter: () => labels[index]!, position: sides[index]! },
        })),
        label: { show: true, distance: 6, ...TEXT, textBorderColor: INK.paper, textBorderWidth: 3 },
      },
    ],
  };
  const description =
    `Spend and ${creditName} revenue per channel: ` +
    `${points
      .map(
        (channel) =>
          `${channel.channel} ${format.money(channel.spend)} spent, ` +
          `${format.money(channel.attributed_revenue)} earned`,
      )
      .join('; ')}.`;
  return renderChart(option, { width: 940, height: 460, description });
}
