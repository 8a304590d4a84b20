import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { z } from 'zod';

/*
 * What others hold the published document against before they make a client of it, with the rules that these tools
 * recommend, and none of them silenced.
 */

const REDOCLY = fileURLToPath(new URL('../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));
const kept = readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8');

interface Document {
  readonly components: { readonly parameters: Record<string, Record<string, unknown>> };
}

/** The document with an example that is not of its type. */
function faulty(): string {
  const document = JSON.parse(kept) as Document;
  document.components.parameters['Page']!['example'] = 'the first';
  return JSON.stringify(document);
}

describe('Redocly, recommended rules', () => {
  const output = z.object({
    problems: z.array(z.object({ ruleId: z.string(), message: z.string(), location: z.unknown() })),
  });
  let folder: string;

  beforeAll(() => {
    // A folder of its own, where no configuration is found.
    folder = mkdtempSync(join(tmpdir(), 'liftgraph-lint-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function problemsOf(text: string): unknown[] {
    writeFileSync(join(folder, 'openapi.json'), text);
    const { stdout, stderr, error } = spawnSync(
      process.execPath,
      [REDOCLY, 'lint', 'openapi.json', '--extends=recommended', '--format=json'],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    if (error !== undefined || stdout === '') throw new Error(`it did not run: ${error?.message ?? stderr}`);
    return output.parse(JSON.parse(stdout)).problems;
  }

  test('finds nothing', () => {
    expect(problemsOf(kept)).toEqual([]);
  });

  test('would find something', () => {
    expect(problemsOf(faulty())).toContainEqual(expect.objectContaining({ ruleId: 'no-invalid-parameter-examples' }));
  });
});

describe('Spectral, recommended rules', () => {
  async function problemsOf(text: string): Promise<unknown[]> {
    const spectral = new spectralCore.Spectral();
    spectral.setRuleset({ extends: [[spectralRulesets.oas as RulesetDefinition, 'recommended']] });
    return spectral.run(text);
  }

  test('finds nothing', async () => {
    expect(await problemsOf(kept)).toEqual([]);
  });

  test('would find something', async () => {
    expect(await problemsOf(faulty())).toContainEqual(expect.objectContaining({ code: 'oas3-valid-media-example' }));
  });
});
