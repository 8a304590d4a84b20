import type { CustomSeriesRenderItem } from 'echarts';
import { CustomChart, BarChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { meanOf } from './accuracy.ts';
import { METHODS } from './estimate-world.ts';
import type { Method } from './estimate-world.ts';
import { METHOD_NAMES } from './method-names.ts';
import { channelWorlds, errorsOf, shareErrorOf, totalErrorOf, works } from './summary.ts';
import type { WorldRecord } from './world-record.ts';

use([BarChart, CustomChart, LineChart, ScatterChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

const INK = '#1d2529';
const FAINT = '#667078';
const LINE = '#e3e5e3';
const COLOUR: Readonly<Partial<Record<Method, string>>> = {
  causal: '#0f766e',
  prav: '#2563eb',
  shapley: '#a16207',
  markov_1: '#9ca3af',
  last_click: '#c9a26b',
};
const MISSED = '#c2410c';
const COMPARED = ['last_click', 'markov_1', 'shapley', 'prav', 'causal'] as const satisfies readonly Method[];
const SIZED_METHODS = ['last_click', 'markov_1', 'shapley', 'causal'] as const satisfies readonly Method[];
/** Dots beyond stand on the upper edge. */
const WORST_TOTAL = 0.6;
const TEXT = { fontFamily: 'system-ui, sans-serif', fontSize: 13, color: INK } as const;

/** A picture that stands on its own: fixed colours on white. */
function render(option: EChartsCoreOption, height: number): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 960, height });
  try {
    chart.setOption({ animation: false, silent: true, backgroundColor: '#ffffff', textStyle: TEXT, ...option });
    return `${chart.renderToSVGString({ useViewBox: true })}\n`;
  } finally {
    chart.dispose();
  }
}

const title = (text: string): EChartsCoreOption => ({
  text,
  left: 16,
  top: 12,
  textStyle: { ...TEXT, fontSize: 15, fontWeight: 'bold' },
});
const percentAxis = (name: string, max?: number): EChartsCoreOption => ({
  type: 'value',
  min: 0,
  ...(max === undefined ? {} : { max }),
  name,
  nameLocation: 'middle',
  nameGap: 32,
  nameTextStyle: { ...TEXT, color: FAINT },
  axisLabel: { ...TEXT, color: FAINT, formatter: (value: number) => `${Math.round(100 * value)} %` },
  splitLine: { lineStyle: { color: LINE } },
});

/** A dot per world and the mean as a bar behind them, best method on top. */
export function shareErrorFigure(worlds: readonly WorldRecord[]): string {
  const best = METHODS.toSorted((a, b) => errorsOf(worlds, b).shareError - errorsOf(worlds, a).shareError);
  return render(
    {
      title: title('Credit that stands at the wrong channel: each dot a world, bars the mean'),
      grid: { left: 130, right: 40, top: 52, bottom: 56 },
      xAxis: percentAxis('share error (total variation over the paid channels)', 1),
      yAxis: {
        type: 'category',
        data: best.map((method) => METHOD_NAMES[method]),
        axisLabel: TEXT,
        axisTick: { show: false },
        axisLine: { lineStyle: { color: FAINT } },
      },
      series: [
        {
          type: 'bar',
          barWidth: 18,
          data: best.map((method) => ({
            value: errorsOf(worlds, method).shareError,
            itemStyle: { color: COLOUR[method] ?? '#d7dbd8', opacity: 0.55 },
          })),
        },
        {
          type: 'scatter',
          symbolSize: 6,
          itemStyle: { color: INK, opacity: 0.4 },
          data: best.flatMap((method, row) => worlds.map((world) => [shareErrorOf(world, method), row])),
        },
      ],
    },
    430,
  );
}

/** Mean share error by family of worlds. */
export function familyFigure(families: ReadonlyMap<string, readonly WorldRecord[]>): string {
  const names = [...families.keys()];
  return render(
    {
      title: title('Share error by kind of world'),
      legend: { top: 12, right: 24, itemWidth: 12, itemHeight: 12, itemGap: 24, textStyle: TEXT },
      grid: { left: 70, right: 24, top: 60, bottom: 44 },
      xAxis: {
        type: 'category',
        data: names.map((name) => name.replaceAll('_', ' ')),
        axisLabel: { ...TEXT, interval: 0 },
        axisTick: { show: false },
        axisLine: { lineStyle: { color: FAINT } },
      },
      yAxis: { ...percentAxis(''), name: '' },
      series: COMPARED.map((method) => ({
        type: 'bar',
        name: METHOD_NAMES[method],
        itemStyle: { color: COLOUR[method] },
        data: names.map((name) => meanOf(families.get(name)!.map((world) => shareErrorOf(world, method)))),
      })),
    },
    380,
  );
}

/**
 * Left a dot per world, its error of the total, and their mean; right the mean share error of some methods. `sizes` are
 * the same worlds with ever more customers.
 */
export function sizeFigure(sizes: readonly (readonly WorldRecord[])[]): string {
  const working = sizes.map((some) => some.filter(works));
  const axis = (gridIndex: number): EChartsCoreOption => ({
    type: 'category',
    gridIndex,
    data: sizes.map((some) => `${Math.round(some[0]!.users / 1000)}k`),
    name: 'customers',
    nameLocation: 'middle',
    nameGap: 32,
    nameTextStyle: { ...TEXT, color: FAINT },
    axisLabel: TEXT,
    axisTick: { show: false },
    axisLine: { lineStyle: { color: FAINT } },
  });
  const line = { type: 'line', symbolSize: 7, lineStyle: { width: 2.5 } } as const;
  return render(
    {
      title: [
        title('Error of the total: each dot a world, the line their mean'),
        { ...title('Mean share error'), left: 560 },
      ],
      legend: {
        bottom: 4,
        left: 560,
        itemGap: 24,
        textStyle: TEXT,
        data: SIZED_METHODS.map((method) => METHOD_NAMES[method]),
      },
      grid: [
        { left: 70, width: 440, top: 52, bottom: 76 },
        { left: 610, right: 24, top: 52, bottom: 76 },
      ],
      xAxis: [axis(0), axis(1)],
      yAxis: [
        { ...percentAxis('', WORST_TOTAL), name: '', gridIndex: 0 },
        { ...percentAxis(''), name: '', gridIndex: 1 },
      ],
      series: [
        {
          type: 'scatter',
          xAxisIndex: 0,
          yAxisIndex: 0,
          symbolSize: 6,
          itemStyle: { color: INK, opacity: 0.35 },
          data: working.flatMap((some, size) =>
            some.map((world) => [size, Math.min(WORST_TOTAL, Math.abs(totalErrorOf(world, 'causal')))]),
          ),
        },
        {
          ...line,
          name: 'mean',
          xAxisIndex: 0,
          yAxisIndex: 0,
          itemStyle: { color: COLOUR.causal },
          data: working.map((some) => errorsOf(some, 'causal').totalError),
        },
        ...SIZED_METHODS.map((method) => ({
          ...line,
          name: METHOD_NAMES[method],
          xAxisIndex: 1,
          yAxisIndex: 1,
          itemStyle: { color: COLOUR[method] },
          data: working.map((some) => errorsOf(some, method).shareError),
        })),
      ],
    },
    400,
  );
}

const TOP = 1.2;

/** Published intervals of the causal model against the truth, each as a part of its world's incremental total. */
export function intervalFigure(worlds: readonly WorldRecord[]): string {
  const all = channelWorlds(worlds, 'causal').map(({ world, truth, credit, low, high, covered }) => [
    truth / world.truthTotal,
    low / world.truthTotal,
    high / world.truthTotal,
    credit / world.truthTotal,
    Number(covered),
  ]);
  const right = Math.max(...all.map(([truth]) => truth!));
  return render(
    {
      title: title(
        'Published 0.95 intervals of the causal model, a line per channel and world; orange ones miss the truth',
      ),
      grid: { left: 78, right: 40, top: 56, bottom: 60 },
      xAxis: percentAxis(
        'true incremental revenue of the channel, as a part of the true total',
        Math.ceil(right * 10) / 10,
      ),
      yAxis: { ...percentAxis('claimed, as a part of the true total', TOP), nameGap: 52 },
      series: [
        { type: 'custom', renderItem: drawInterval, encode: { x: 0, y: [1, 2, 3] }, clip: true, data: all },
        { type: 'custom', renderItem: drawDiagonal, clip: true, data: [[0, 0, right, right]] },
      ],
    },
    560,
  );
}

const drawInterval: CustomSeriesRenderItem = (_, api) => {
  const at = (index: number): [number, number] =>
    api.coord([api.value(0), Math.min(TOP, api.value(index) as number)]) as [number, number];
  const [x, low] = at(1);
  const stroke = api.value(4) === 1 ? '#0f766e' : MISSED;
  return {
    type: 'group',
    children: [
      {
        type: 'line',
        shape: { x1: x, y1: low, x2: x, y2: at(2)[1] },
        style: { stroke, lineWidth: 1.4, opacity: 0.55 },
      },
      { type: 'circle', shape: { cx: x, cy: at(3)[1], r: 2.4 }, style: { fill: stroke } },
    ],
  };
};

/** Where an estimate equals the truth. */
const drawDiagonal: CustomSeriesRenderItem = (_, api) => {
  const [x1, y1] = api.coord([api.value(0), api.value(1)]) as [number, number];
  const [x2, y2] = api.coord([api.value(2), api.value(3)]) as [number, number];
  return { type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: INK, lineWidth: 1, lineDash: [5, 4] } };
};
