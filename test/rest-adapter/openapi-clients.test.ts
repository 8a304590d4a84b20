import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/*
 * Clients that strangers generate from the published document, by three generators as they come: what a caller writes
 * first must type-check in each. The exception are the three operations of OAuth, whose errors have two forms.
 */

const inRepository = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const kept = readFileSync(inRepository('schema/openapi.json'), 'utf8');

/** What is written with each client, in a file of the generator's name. */
const CALLS = {
  'openapi-typescript': `
    import createClient from 'openapi-fetch';
    import type { components, paths, webhooks } from './paths';

    export async function call(): Promise<string> {
      const client = createClient<paths>({ baseUrl: 'https://api.example/v1' });
      const { data, error } = await client.POST('/attribution', {
        params: { header: { 'X-Nonce': 'nonce-0001' } },
        body: { data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-31'] },
      });
      if (error !== undefined) return error.error.message;
      const { data: page } = await client.GET('/webhooks');
      return [data.channel_impact[0]?.channel, page?.webhooks[0]?.url, page?.meta.total, page?.trust.risk_level].join();
    }

    export async function upload(file: Blob): Promise<string | undefined> {
      const client = createClient<paths>({ baseUrl: 'https://api.example/v1' });
      const named = { params: { path: { id: 'ds_1' }, header: { 'X-Nonce': 'nonce-0001' } } };
      const { data, error } = await client.POST('/data-sources/{id}/records', { ...named, body: [{ order_id: 'o1' }] });
      if (error !== undefined) return error.error.message;
      const bodySerializer = () => file;
      const headers = { 'Content-Type': 'text/csv' };
      await client.POST('/data-sources/{id}/records', { ...named, body: '', bodySerializer, headers });
      return 'upload_id' in data ? data.upload_id : data.kind;
    }

    export const days = (result: components['schemas']['AttributionResult']): [string, string] => result.date_range;
    type Told = webhooks['attribution.completed']['post']['requestBody']['content']['application/json'];
    export const told = ({ type, data }: Told): ['attribution.completed', [string, string]] => [type, data.date_range];

    type Body = components['requestBodies']['AttributionRequest']['content']['application/json'];
    // @ts-expect-error a range has two ends
    export const half: Body = { data_source_id: 'ds_1', date_range: ['2026-01-01'] };
    export const forms: Body['date_range'][] = [['2026-01-01', '2026-01-31'], '2026-01-01,2026-01-31'];
  `,
  'hey-api': `
    import { listWebhooks, runAttribution, uploadRecords } from './hey';
    import type { AttributionCompletedEvent, AttributionRequest } from './hey';

    export async function upload(): Promise<string | undefined> {
      const named = { path: { id: 'ds_1' }, headers: { 'X-Nonce': 'nonce-0001' } };
      const { data, error } = await uploadRecords({ ...named, body: [{ order_id: 'o1' }] });
      if (error !== undefined) return error.error.message;
      return 'upload_id' in data ? data.upload_id : data.kind;
    }

    export async function call(): Promise<string> {
      const { data, error } = await runAttribution({
        headers: { 'X-Nonce': 'nonce-0001' },
        body: { data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-31'] },
      });
      if (error !== undefined) return error.error.message;
      const { data: page } = await listWebhooks();
      const [first, last]: [string, string] = data.date_range;
      return [first, last, data.channel_impact[0]?.channel, page?.webhooks[0]?.url, page?.meta.total].join();
    }

    export const told = ({ data }: AttributionCompletedEvent): [string, string] => data.date_range;
    // @ts-expect-error a range has two ends
    export const half: AttributionRequest = { data_source_id: 'ds_1', date_range: ['2026-01-01'] };
  `,
  orval: `
    import { listWebhooks, runAttribution, uploadRecords } from './orval';
    import type { AttributionCompletedEvent, AttributionRequestBody } from './orval';

    export async function upload(): Promise<string | undefined> {
      const answer = await uploadRecords('ds_1', [{ order_id: 'o1' }]);
      if (answer.status === 200) return answer.data.kind;
      return answer.status === 202 ? answer.data.upload_id : answer.data.error.message;
    }

    export async function call(): Promise<string> {
      const answer = await runAttribution({ data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-31'] });
      if (answer.status !== 200) return answer.data.error.message;
      const page = await listWebhooks();
      if (page.status !== 200) return page.data.error.message;
      const [first, last]: readonly string[] = answer.data.date_range;
      return [first, last, answer.data.channel_impact[0]?.channel, page.data.webhooks[0]?.url].join();
    }

    export const told = ({ data }: AttributionCompletedEvent): string => data.date_range[0];
    // @ts-expect-error a range has two ends
    export const half: AttributionRequestBody = { data_source_id: 'ds_1', date_range: ['2026-01-01'] };
  `,
} as const;

/**
 * Its fetch client (8.38) makes no valid code of an operation that takes JSON and files: since it hands on what may be
 * a `Blob` as it is, it does so with JSON, too. Rows can be sent once it knows JSON alone.
 */
const ORVAL_CONFIG = {
  liftgraph: {
    input: './openapi.json',
    output: { target: './orval.ts', client: 'fetch', override: { contentType: { include: ['application/json'] } } },
  },
};

const COMPILER_OPTIONS = {
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2023',
  lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/** They read the compiler's old API, so they stand beside the TypeScript of schema/client (`overrides` see to that). */
const GENERATORS: Readonly<Record<keyof typeof CALLS, readonly [program: string, args: string]>> = {
  'openapi-typescript': ['openapi-typescript/bin/cli.js', 'openapi.json --output paths.ts'],
  'hey-api': [
    '@hey-api/openapi-ts/bin/run.js',
    '--input openapi.json --output hey --no-log-file --plugins @hey-api/typescript @hey-api/sdk @hey-api/client-fetch',
  ],
  orval: ['orval/dist/bin/orval.mjs', '--config orval.config.mjs'],
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'liftgraph-clients-'));
  symlinkSync(inRepository('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(ORVAL_CONFIG)};\n`);
  const project = { compilerOptions: COMPILER_OPTIONS, include: ['*.ts', 'hey'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  for (const [name, call] of Object.entries(CALLS)) writeFileSync(join(folder, `call-${name}.ts`), call);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(program: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  const child = spawn(process.execPath, program, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, output: `${output}${errors}` };
}

/** Generates all three, and answers with what the compiler says of them. */
async function checked(document: string): Promise<string> {
  writeFileSync(join(folder, 'openapi.json'), document);
  for (const [program, args] of Object.values(GENERATORS)) {
    const { code, output } = await run([inRepository(`schema/client/node_modules/${program}`), ...args.split(' ')]);
    if (code !== 0) throw new Error(`${program}: ${output}`);
  }
  return (await run([inRepository('node_modules/typescript/bin/tsc'), '--project', '.', '--pretty', 'false'])).output;
}

test('rows are sent, and errors, answers, ranges and pages read without a cast', async () => {
  expect(await checked(kept)).toBe('');
});

test('a document in which any error might be one of OAuth is found out in each', async () => {
  const { components, ...others } = JSON.parse(kept) as { components: { schemas: Record<string, unknown> } };
  const { Error: error, OauthError: oauthError } = components.schemas;
  const schemas = { ...components.schemas, Error: { anyOf: [error, oauthError] } };
  const findings = await checked(JSON.stringify({ ...others, components: { ...components, schemas } }));
  for (const name of Object.keys(CALLS))
    expect(findings).toMatch(new RegExp(`call-${name}\\.ts.*'message' does not exist`));
});
