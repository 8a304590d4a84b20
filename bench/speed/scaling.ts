// Time of each model against the number of touchpoints, 10⁴ … 10⁸: linear where the lines run parallel to the grid's
// diagonal. npm run bench speed/scaling prints the table npm run bench speed/scaling -- --write also keeps
// docs/speed/scaling.svg and scaling.md Processor time of one thread, so that other work on the machine counts as
// little as can be. The largest size is the one before ten times over: what is linear in one table is linear in ten.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { runTask } from '../../compute/tasks.ts';
import type { TaskInput, TaskName } from '../../compute/tasks.ts';
import { say } from '../compute/stopwatch.ts';
import { syntheticEvents, syntheticPaths, wholeRange } from '../compute/synthetic-tables.ts';

const CHANNELS = 12;
const TOUCHES_PER_PATH = 6;
const SIZES = [1e4, 1e5, 1e6, 1e7];
const REPEATED = 10;
const folder = join(import.meta.dirname, '../../docs/speed');

type Line = Map<number, number>;
const lines = new Map<string, Line>();

for (const touches of SIZES) {
  const paths = syntheticPaths(Math.round(touches / TOUCHES_PER_PATH), CHANNELS, 2);
  const events = syntheticEvents(touches, CHANNELS, 2);
  const options = wholeRange(events);
  const repeats = touches === SIZES.at(-1) ? REPEATED : 1;
  for (const order of [1, 3]) measure(`Markov, order ${order}`, touches, repeats, 'markov', { paths, order });
  measure('Shapley', touches, repeats, 'shapley', { paths });
  measure('dominance', touches, repeats, 'dominance', { paths });
  measure('relative weights', touches, repeats, 'rwa', { paths });
  measure('comparison rules', touches, repeats, 'comparison', { events, options });
  measure('PRAV', touches, repeats, 'prav', { events, options });
}

const sizes = [...SIZES, SIZES.at(-1)! * REPEATED];
const power = (touches: number): string => `10${'⁰¹²³⁴⁵⁶⁷⁸'[Math.round(Math.log10(touches))]!}`;
const table = [
  `| seconds for … touchpoints | ${sizes.map(power).join(' | ')} | ns per touchpoint at ${power(SIZES.at(-1)!)} |`,
  `|---|${sizes.map(() => '--:|').join('')}--:|`,
  ...[...lines].map(
    ([model, line]) =>
      `| ${model} | ${sizes.map((size) => seconds(line.get(size)!)).join(' | ')} | ` +
      `${((line.get(SIZES.at(-1)!)! * 1e6) / SIZES.at(-1)!).toFixed(0)} |`,
  ),
].join('\n');
say(table);
if (process.argv.includes('--write')) {
  writeFileSync(join(folder, 'scaling.md'), `${table}\n`);
  writeFileSync(join(folder, 'scaling.svg'), drawing());
}

function measure<Name extends TaskName>(
  model: string,
  touches: number,
  repeats: number,
  name: Name,
  input: TaskInput<Name>,
): void {
  const once = (): number => {
    const began = process.cpuUsage();
    const outcome = runTask(name, input, () => undefined);
    const { user, system } = process.cpuUsage(began);
    if (!outcome.ok) throw new Error(`${name}: ${outcome.message}`);
    return (user + system) / 1000;
  };
  const line = lines.get(model) ?? lines.set(model, new Map()).get(model)!;
  const runs = Array.from({ length: touches < 1e6 ? 15 : 5 }, once);
  line.set(touches, Math.min(...runs));
  if (repeats > 1)
    line.set(
      touches * repeats,
      Array.from({ length: repeats }, once).reduce((sum, ms) => sum + ms, 0),
    );
}

function seconds(ms: number): string {
  return (ms / 1000).toPrecision(2).replace(/e.*/, '');
}

function drawing(): string {
  use([LineChart, GridComponent, LegendComponent, SVGRenderer]);
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 760, height: 480 });
  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    grid: { left: 76, right: 24, top: 64, bottom: 48 },
    legend: { top: 8 },
    xAxis: {
      type: 'log',
      name: 'touchpoints',
      nameLocation: 'middle',
      nameGap: 30,
      min: SIZES[0],
      max: sizes.at(-1),
      axisLabel: { formatter: power },
    },
    yAxis: {
      type: 'log',
      name: 'processor time, s',
      nameLocation: 'middle',
      nameGap: 52,
      axisLabel: { formatter: (value: number) => String(value) },
    },
    series: [
      ...[...lines].map(([name, line]) => ({
        name,
        type: 'line',
        symbolSize: 7,
        data: [...line].map(([touches, ms]) => [touches, ms / 1000]),
      })),
      {
        name: 'linear',
        type: 'line',
        symbol: 'none',
        lineStyle: { type: 'dashed', color: '#888' },
        itemStyle: { color: '#888' },
        data: [
          [1e4, 1e-4],
          [1e8, 1],
        ],
      },
    ],
  });
  const svg = chart.renderToSVGString({ useViewBox: true });
  chart.dispose();
  return `${svg}\n`;
}
