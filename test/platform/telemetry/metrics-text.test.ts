import { parseMetrics } from '../../metrics-text.ts';

const COUNTER = '# HELP a_total Of a.\n# TYPE a_total counter\na_total{x="1"} 2\n';
const HISTOGRAM = (last: number) =>
  `# HELP b_seconds Of b.\n# TYPE b_seconds histogram\nb_seconds_bucket{le="1"} 1\nb_seconds_bucket{le="+Inf"} ` +
  `${last}\nb_seconds_sum 3\nb_seconds_count 2\n`;

test('what a server would read is read', () => {
  expect(parseMetrics(COUNTER).get('a_total')!.samples.get('a_total{x="1"}')).toBe(2);
  expect(parseMetrics(HISTOGRAM(2)).get('b_seconds')!.type).toBe('histogram');
});

test.each([
  ['a sample without a type', 'a_total 1\n'],
  ['a sample of another metric', `${COUNTER}b_total 1\n`],
  ['the same sample twice', `${COUNTER}a_total{x="1"} 3\n`],
  ['a metric in two pieces', COUNTER + COUNTER],
  ['a value that is no number', COUNTER.replace('} 2', '} two')],
  ['a quote within a label', COUNTER.replace('x="1"', 'x="1"2"')],
  ['buckets that lose some', HISTOGRAM(0)],
  ['a count that differs', HISTOGRAM(3)],
  ['no end of the last line', COUNTER.slice(0, -1)],
])('%s is refused', (_what, text) => {
  expect(() => parseMetrics(text)).toThrow(SyntaxError);
});
