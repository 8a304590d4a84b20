import { BarChart, CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent } from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { escapeHtml } from '../html.ts';
import { keepTextsApart } from './drawn-names.ts';

use([BarChart, CustomChart, LineChart, ScatterChart, GridComponent, LegendComponent, MarkLineComponent, SVGRenderer]);
keepTextsApart();

/** Colours of a chart are custom properties of the page, so that one drawing serves light, dark and print. */
export const INK = {
  text: 'var(--ink)',
  faint: 'var(--ink-faint)',
  line: 'var(--line)',
  paper: 'var(--paper)',
  causal: 'var(--causal)',
  lastClick: 'var(--last-click)',
  whisker: 'var(--whisker)',
  series: ['var(--series-1)', 'var(--series-2)', 'var(--series-3)', 'var(--series-4)', 'var(--series-5)'],
} as const;

export const TEXT = { fontFamily: 'inherit', fontSize: 13, color: INK.text } as const;
export const FAINT_TEXT = { ...TEXT, fontSize: 12, color: INK.faint } as const;

export interface ChartFrame {
  readonly width: number;
  readonly height: number;
  /** What a reader who cannot see the chart is told. */
  readonly description: string;
}

/** Draws on the server, without a browser, to an inline SVG that scales with its container. */
export function renderChart(option: EChartsCoreOption, { width, height, description }: ChartFrame): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, silent: true, textStyle: TEXT, ...option });
    const svg = chart.renderToSVGString({ useViewBox: true });
    // Inside HTML the namespaces are implied; without them the page holds no address at all.
    return svg
      .replaceAll(/\sxmlns(?::\w+)?="[^"]*"/g, '')
      .replace('<svg', `<svg role="img" aria-label="${escapeHtml(description)}"`);
  } finally {
    chart.dispose();
  }
}
