import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { everyPicture } from '../../bench/concepts/every-picture.ts';
import { pathExample, visitExample } from '../../bench/concepts/worked-examples.ts';
import { DAY_S, DEFAULT_RUN_PARAMETERS } from '../../compute/run-options.ts';
import type { AttributionReport } from '../../report/attribution-report.ts';
import { attributionOperations } from '../../rest-adapter/operations/attribution.ts';
import { pathTable } from '../compute/reference-data.ts';
import { figures } from '../compute/run-in-thread.ts';
import { startCli } from '../processes/cli/run-cli.ts';
import { blocksOf, decimalsIn, sectionOf, tablesOf } from './markdown.ts';
import { pathPages } from './path-pages.ts';
import { visitPages } from './visit-pages.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['README', 'causal', 'delta-r', 'dominance', 'markov', 'prav', 'relative-weights', 'rules', 'shapley'];
const read = (page: string): string => readFileSync(join(ROOT, `docs/concepts/${page}.md`), 'utf8');

/** Decimals of the text that no figure rounds to. */
function strangers(text: string, known: readonly number[]): string[] {
  return decimalsIn(text).filter((printed) => {
    const half = 0.5 * 10 ** -printed.split('.')[1]!.length;
    const value = Number(printed.replace('−', '-'));
    return !known.some((figure) => Math.abs(figure - value) <= half * (1 + 1e-6));
  });
}

const worked = [...pathPages(), ...visitPages()];

describe('the worked examples of docs/concepts', () => {
  test.each(worked)(
    '$page, $heading: every figure is what the models answer',
    ({ page, heading, tables, figures: known }) => {
      const section = sectionOf(read(page), heading);
      expect(tablesOf(section)).toEqual(tables);
      expect(strangers(section, known)).toEqual([]);
    },
  );

  test('a changed figure is caught, in a table and in the text', () => {
    const { page, heading, tables, figures: known } = worked.find((example) => example.page === 'markov')!;
    const section = sectionOf(read(page), heading);
    expect(tablesOf(section.replace('| 0.7833 |', '| 0.7834 |'))).not.toEqual(tables);
    expect(strangers(section.replace('sum to 1.8976', 'sum to 1.8967'), known)).toEqual(['1.8967']);
  });

  test('each page with an example has been worked', () => {
    expect(PAGES.filter((page) => page !== 'README' && !worked.some((example) => example.page === page))).toEqual([]);
  });

  test.each(Object.entries(everyPicture()))('the picture of %s is what the models draw', (name, svg) => {
    expect(readFileSync(join(ROOT, `docs/concepts/pictures/${name}.svg`), 'utf8')).toBe(svg);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });
});

/** The visits of a handful of people leave most days without a touch. */
const COMMAND = ['analyze', 'docs/concepts/visits.csv', '--accept-quality', 'missing_days'];

describe('what the pages say of the models', () => {
  test('the command line, which cuts journeys by other means, answers like the worked example', async () => {
    const { causal, channels } = visitExample();
    const { code, stdout, stderr } = await startCli([...COMMAND, '--json'], {
      cwd: ROOT,
      temporary: tmpdir(),
    }).result;
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    const { channel_impact: impact, model_breakdown: breakdown } = JSON.parse(stdout) as AttributionReport;
    const credit = new Map(impact.map((channel) => [channel.channel, channel.attributed_revenue]));
    expect(channels.map((channel) => credit.get(channel))).toEqual(
      Array.from(causal.valueCents, (cents) => cents / 100),
    );
    expect(Object.keys(breakdown).toSorted()).toEqual(Object.keys(causal.memberShare).toSorted());
  });

  test('PRAV looks as far as its page says', () => {
    const { horizonS, gapS, placeboWindowS, groups } = DEFAULT_RUN_PARAMETERS;
    const formula = sectionOf(read('prav'), '## The formula');
    expect(formula).toContain(
      `$H$ = ${horizonS / DAY_S} days, $g$ = ${gapS / 60} minutes, $w$ = ${placeboWindowS / DAY_S} days`,
    );
    expect(formula).toContain(`over ${groups} groups of users`);
  });

  test('nulls leave Shapley alone and move Markov', () => {
    const { rows, shapley, markov } = pathExample();
    const more = pathTable(
      rows.map((row) => (row.path.join() === 'email' ? { ...row, nulls: row.nulls * 100 } : row)),
      ['video', 'search', 'email'],
    );
    expect([...figures('shapley', { paths: more }).value]).toEqual([...shapley.value]);
    expect(figures('markov', { paths: more, order: 1 }).share[2]).not.toBeCloseTo(markov.share[2]!, 3);
  });

  test('Markov credits retargeting in the toy as its page says', () => {
    expect(sectionOf(read('markov'), '## When it misleads')).toContain(
      ` ${visitExample().causal.memberShare.markov![2]!.toFixed(4)} of the paid credit`,
    );
  });
});

describe('the snippets of docs/concepts', () => {
  const schema = buildSchema(readFileSync(join(ROOT, 'schema/supergraph.graphql'), 'utf8'), { assumeValidSDL: true });
  const { bodySchema } = Object.fromEntries(attributionOperations.map((row) => [row.id, row]))['runAttribution']!;
  const faultsOf = (document: string): string[] => validate(schema, parse(document)).map((error) => error.message);

  test.each(PAGES.flatMap((page) => blocksOf(read(page), 'graphql').map((document) => ({ page, document }))))(
    '$page: the graph takes its document',
    ({ document }) => {
      expect(faultsOf(document)).toEqual([]);
    },
  );

  test.each(
    PAGES.flatMap((page) =>
      blocksOf(read(page), 'bash').flatMap((block) =>
        [...block.matchAll(/-d '([^']+)'/g)].map(([, body]) => ({ page, body: body! })),
      ),
    ),
  )('$page: POST /v1/attribution takes its body', ({ body }) => {
    const sent = JSON.parse(body) as Record<string, unknown>;
    const taken = bodySchema!.parse(sent) as Record<string, unknown>;
    // What the contract does not know is dropped, so a misspelt member would not come back.
    expect(Object.keys(taken)).toEqual(expect.arrayContaining(Object.keys(sent)));
  });

  test('a field that there is not is caught', () => {
    expect(faultsOf('query { attribution(id: "attr_…") { deltaR } }')).toHaveLength(1);
  });
});
