import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../../services/identity/accounts/account-store.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { newUuid } from '../../platform/identifiers.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { blocksOf, sectionOf } from './markdown.ts';

const PAGE = readFileSync(new URL('../../docs/operating/oauth.md', import.meta.url), 'utf8');
/** Where programs find the packages. */
const ROOT = new URL('../..', import.meta.url).pathname;

let house: House;
let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, isPublic: true });
  folder = mkdtempSync(join(tmpdir(), 'liftgraph-oauth-'));
  const agent = await Caller.register(house.root);
  const { body } = await agent.get('/agents/me');
  environment = {
    ...process.env,
    LG: `${house.root}/v1`,
    LIFTGRAPH: house.root,
    KEY: agent.key!,
    AGENT_ID: String(body['agent_id']),
    NODE_OPTIONS: '',
  };
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await house?.stop();
});

/** Starts a program of the page; `printed` resolves with what matched, `ended` with everything. */
function start(
  cwd: string,
  command: string,
  args: readonly string[],
): { readonly child: ChildProcess; printed(pattern: RegExp): Promise<string>; readonly ended: Promise<string> } {
  const child = spawn(command, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`ended with ${code}: ${text}`))));
  });
  return {
    child,
    ended,
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(text)?.[1];
        if (found !== undefined) return found;
        await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), ended]);
      }
    },
  };
}

test('the lines for curl work as they stand', async () => {
  const [block] = blocksOf(sectionOf(PAGE, '## With curl'), 'bash');
  const output = await start(folder, 'bash', ['-euo', 'pipefail', '-c', block!]).ended;
  const answers = [...output.matchAll(/\{.*?\}(?=\{"|$)/gs)].map(
    ([json]) => JSON.parse(json) as Record<string, unknown>,
  );
  expect(answers.map((answer) => Object.keys(answer).filter((name) => name !== 'meta'))).toEqual([
    ['sources', 'trust'],
    ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope', 'trust'],
    ['trust'],
  ]);
});

test('the program for openid-client asks, waits, and reads what it was granted', async () => {
  const section = sectionOf(PAGE, '## With openid-client');
  await start(folder, 'bash', ['-euo', 'pipefail', '-c', blocksOf(section, 'bash')[0]!]).ended;
  const program = start(ROOT, process.execPath, ['--input-type=module', '-e', blocksOf(section, 'js')[0]!]);
  const address = await program.printed(/Open (\S+)\n/);
  const accountId = newUuid();
  const key = await house.backing.database.asTenant(accountId, async (em) => {
    await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
    return house.keys.issue(em, { accountId, agentId: null, kind: 'svc_live_sk', bond: UNBOUND });
  });
  await fetch(address, { method: 'POST', body: new URLSearchParams({ key, decision: 'allow' }) });
  expect(await program.ended).toMatch(/Granted: attribution:read health:read\nData sources: 200\n$/);
});
