import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { blocksOf, sectionOf } from './markdown.ts';

const PAGE = readFileSync(new URL('../../docs/operating/webhooks.md', import.meta.url), 'utf8');
const ROOT = new URL('../..', import.meta.url).pathname;
const RECEIVERS = blocksOf(sectionOf(PAGE, '## Checking a signature'), 'js');

let house: House;
let folder: string;
let caller: Caller;
const started: ChildProcess[] = [];

beforeAll(async () => {
  house = await openHouse('one process', { isPublic: true });
  caller = await Caller.register(house.root);
  folder = mkdtempSync(join(tmpdir(), 'liftgraph-webhooks-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  for (const child of started) child.kill();
  rmSync(folder, { recursive: true, force: true });
  await house?.stop();
});

/** Runs a receiver of the page. What it prints reaches us later than its answer reaches the sender. */
async function receive(
  program: string,
  port: number,
  secret: string,
): Promise<{ untilPrinted(words: string): Promise<void> }> {
  const file = join(folder, `receiver-${port}.mjs`);
  writeFileSync(file, program);
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env['PATH'], SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  const untilPrinted = async (words: string): Promise<void> => {
    while (!text.includes(words)) await once(child.stdout, 'data');
  };
  await untilPrinted('listening');
  return { untilPrinted };
}

test('the page shows two receivers', () => expect(RECEIVERS).toHaveLength(2));

test.each(RECEIVERS.map((program, index) => [index + 1, program] as const))(
  'receiver %i takes what is genuine, with either kind of secret, and nothing else',
  async (_number, program) => {
    for (const secret of [undefined, 'a secret of my own']) {
      const port = await freePort();
      const { body } = await caller.post('/webhooks', {
        url: `http://127.0.0.1:${port}/`,
        events: ['attribution.completed'],
        ...(secret === undefined ? {} : { secret }),
      });
      const receiver = await receive(program, port, String(body['secret']));
      const tested = await caller.post(`/webhooks/${String(body['id'])}/test`, {});
      expect(tested.body).toMatchObject({ delivered: true, delivery: { response_status: 204 } });
      await receiver.untilPrinted('genuine attribution.completed');
      await caller.send(
        'PATCH',
        `/webhooks/${String(body['id'])}`,
        JSON.stringify({ secret: 'one that the receiver does not know' }),
        { 'content-type': 'application/json' },
      );
      await caller.send(
        'PATCH',
        `/webhooks/${String(body['id'])}`,
        JSON.stringify({ secret: 'nor this one, nor the one before' }),
        { 'content-type': 'application/json' },
      );
      expect((await caller.post(`/webhooks/${String(body['id'])}/test`, {})).body).toMatchObject({
        delivered: false,
        delivery: { response_status: 401 },
      });
      await caller.delete(`/webhooks/${String(body['id'])}`);
    }
  },
);

test('the line for curl works as it stands', async () => {
  const [block] = blocksOf(PAGE, 'bash');
  const child = spawn('bash', ['-euo', 'pipefail', '-c', block!], {
    env: { PATH: process.env['PATH'], LG: `${house.root}/v1`, KEY: caller.key!, HOOK: 'http://localhost:9/' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  await once(child, 'close');
  expect(JSON.parse(text)).toMatchObject({
    events: ['attribution.completed'],
    secret: expect.stringMatching(/^whsec_/),
    metadata: { shop: 'spring' },
  });
});
