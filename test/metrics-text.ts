/** A metric as it was scraped, its samples by name and labels, such as `jobs_total{queue="a"}`. */
export interface ScrapedMetric {
  readonly type: string;
  readonly help: string;
  readonly samples: ReadonlyMap<string, number>;
  readonly labels: readonly Readonly<Record<string, string>>[];
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;
const SUFFIXES = ['', '_bucket', '_sum', '_count'];

/**
 * Parses the text format (version 0.0.4 of Prometheus) and refuses whatever a server might misread: a sample without
 * its TYPE before it, a sample twice, a metric in two pieces, values that are no numbers, histograms whose buckets do
 * not add up.
 */
export function parseMetrics(text: string): ReadonlyMap<string, ScrapedMetric> {
  if (!text.endsWith('\n')) throw new SyntaxError('the last line has no end');
  const metrics = new Map<
    string,
    { type: string; help: string; samples: Map<string, number>; labels: Record<string, string>[] }
  >();
  let current = '';
  let help = '';
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, comment, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (comment === 'HELP') help = rest!;
    else if (comment === 'TYPE') {
      if (metrics.has(name!)) throw new SyntaxError(`${name} comes in two pieces`);
      current = name!;
      metrics.set(current, { type: rest!, help, samples: new Map(), labels: [] });
    } else addSample(metrics.get(current), current, line);
  }
  for (const [name, metric] of metrics) if (metric.type === 'histogram') checkBuckets(name, metric);
  return metrics;
}

function addSample(
  metric: { type: string; samples: Map<string, number>; labels: Record<string, string>[] } | undefined,
  of: string,
  line: string,
): void {
  const [, name, labelText = '', valueText] = SAMPLE.exec(line) ?? [];
  if (metric === undefined || name === undefined || !SUFFIXES.some((suffix) => name === of + suffix))
    throw new SyntaxError(`no sample of ${of}: ${line}`);
  const labels = labelsOf(labelText);
  const value = valueText === '+Inf' ? Infinity : Number(valueText);
  if (Number.isNaN(value)) throw new SyntaxError(`no number: ${line}`);
  const id = sampleId(name, labels);
  if (metric.samples.has(id)) throw new SyntaxError(`twice: ${id}`);
  metric.samples.set(id, value);
  metric.labels.push(labels);
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let left = text; left !== '';) {
    const [whole, name, value] = LABEL.exec(left) ?? [];
    if (whole === undefined) throw new SyntaxError(`no labels: ${text}`);
    labels[name!] = value!;
    left = left.slice(whole.length);
  }
  return labels;
}

function checkBuckets(name: string, { samples }: { samples: ReadonlyMap<string, number> }): void {
  const series = new Map<string, { bounds: number[]; counts: number[] }>();
  for (const [id, value] of samples) {
    const { le, ...labels } = id.startsWith(`${name}_bucket`) ? labelsOf(id.slice(id.indexOf('{') + 1, -1)) : {};
    if (le === undefined) continue;
    const known = series.get(sampleId('', labels)) ?? { bounds: [], counts: [] };
    known.bounds.push(le === '+Inf' ? Infinity : Number(le));
    known.counts.push(value);
    series.set(sampleId('', labels), known);
  }
  for (const [labels, { bounds, counts }] of series) {
    const rises = (figures: readonly number[]): boolean =>
      figures.every((figure, index) => index === 0 || figure >= figures[index - 1]!);
    if (
      !rises(bounds) ||
      !rises(counts) ||
      bounds.at(-1) !== Infinity ||
      counts.at(-1) !== samples.get(`${name}_count${labels}`)
    )
      throw new SyntaxError(`the buckets of ${name}${labels} do not add up`);
  }
}

/** Labels in the order of their names. */
export function sampleId(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const entries = Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0 ? name : `${name}{${entries.map(([key, value]) => `${key}="${value}"`).join(',')}}`;
}
