import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Caller } from '../house.ts';
import { BOMBS, type Bomb } from './bombs/graphql-bombs.ts';
import { DataFolder } from './data-folder.ts';
import { Service } from './service.ts';
import { UNLIMITED } from './unlimited.ts';

jest.setTimeout(120_000);

const REFUSED_MS = 250;
const GROWTH_MIB = 50;
const SLOWER_AT_MOST = 2;
/** Rounds with and without an attack, in turns, so that what else the machine does meets both. */
const ROUNDS = 12;
const ROUND_MS = 1_000;
/** Bombs a second in a round: ten times what one agent's rate limit lets through. */
const BOMBS_PER_S = 10;

describe('operations made to hurt', () => {
  const folder = new DataFolder();
  let service: Service;
  let caller: Caller;

  beforeAll(async () => {
    service = await Service.start({ env: { LIFTGRAPH_DATA_DIR: folder.path, LOG_LEVEL: 'warn', ...UNLIMITED } });
    caller = await Caller.register(service.root);
    // What every operation needs once: caches, compiled code.
    for (let time = 0; time < 50; time += 1) await neighbour();
  });
  afterAll(async () => {
    if (service?.isOver === false) await service.stop();
    folder.remove();
  });

  const throwBomb = (bomb: Bomb): Promise<Response> =>
    fetch(`${service.root}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        authorization: `Bearer ${caller.key}`,
      },
      body: bomb.body,
    });

  const neighbour = async (): Promise<number> => {
    const startedMs = performance.now();
    const response = await fetch(`${service.root}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${caller.key}` },
      body: JSON.stringify({ query: '{ me { id name tier } }' }),
    });
    expect(await response.json()).not.toHaveProperty('errors');
    return performance.now() - startedMs;
  };

  test.each(BOMBS.map((bomb) => [bomb.name, bomb] as const))('%s: refused at once over HTTP', async (_name, bomb) => {
    let fastestMs = Infinity;
    // The best of a few: the machine may be busy, a bomb that works is slow every time.
    for (let attempt = 0; attempt < 4 && fastestMs > REFUSED_MS; attempt += 1) {
      const startedMs = performance.now();
      const response = await throwBomb(bomb);
      const body = (await response.json()) as { data?: unknown; errors: readonly { extensions: { type: string } }[] };
      fastestMs = Math.min(fastestMs, performance.now() - startedMs);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(body).not.toHaveProperty('data');
      expect(['invalid_request', 'validation_error', 'payload_too_large']).toContain(body.errors[0]!.extensions.type);
    }
    expect(fastestMs).toBeLessThan(REFUSED_MS);
  });

  test('each is refused over WebSocket too; the socket stays open, unless the message is too long', async () => {
    for (const bomb of BOMBS.filter(({ isOperation }) => isOperation)) {
      const socket = await openSocket(service.root, caller.key!);
      let fastestMs = Infinity;
      let isOpen = true;
      for (let attempt = 0; isOpen && attempt < 4 && fastestMs > REFUSED_MS; attempt += 1) {
        const startedMs = performance.now();
        const answer = await ask(socket, JSON.parse(bomb.body) as object);
        fastestMs = Math.min(fastestMs, performance.now() - startedMs);
        isOpen = !/^closed with 44(00|29)$/.test(answer.type);
        const isRefused =
          !isOpen || answer.type === 'error' || (answer.payload as { errors?: unknown }).errors !== undefined;
        expect({ bomb: bomb.name, isRefused }).toEqual({ bomb: bomb.name, isRefused: true });
      }
      expect({ bomb: bomb.name, inTime: fastestMs < REFUSED_MS, fastestMs }).toMatchObject({ inTime: true });
      if (isOpen)
        expect(await ask(socket, { query: '{ me { id } }' })).toMatchObject({
          type: 'next',
          payload: { data: { me: {} } },
        });
      socket.terminate();
    }
  });

  test('neighbours hardly notice, and memory stays', async () => {
    const quiet: number[] = [];
    const attacked: number[] = [];
    // The heap also grows by what neighbours ask, until it is collected: that much is not the bombs' doing.
    const grownMib = { quiet: 0, attacked: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const isAttack = round % 2 === 1;
      let isOver = false;
      const beforeMib = residentMib(service.pid);
      const attack = isAttack ? bombard(() => isOver) : Promise.resolve();
      for (const endMs = performance.now() + ROUND_MS; performance.now() < endMs; await sleep(5))
        (isAttack ? attacked : quiet).push(await neighbour());
      isOver = true;
      await attack;
      grownMib[isAttack ? 'attacked' : 'quiet'] += residentMib(service.pid) - beforeMib;
    }
    const byBombsMib = grownMib.attacked - grownMib.quiet;
    process.stdout.write(
      `neighbours: p95 ${p95(quiet).toFixed(1)} ms alone (${quiet.length}), ${p95(attacked).toFixed(1)} ms beside ` +
        `bombs (${attacked.length}); memory ${grownMib.quiet} MiB more alone, ${grownMib.attacked} beside bombs\n`,
    );
    expect(byBombsMib).toBeLessThan(GROWTH_MIB);
    expect(p95(attacked) / p95(quiet)).toBeLessThan(SLOWER_AT_MOST);
  });

  async function bombard(isOver: () => boolean): Promise<void> {
    for (let next = 0; !isOver(); next += 1) {
      await (await throwBomb(BOMBS[next % BOMBS.length]!)).text();
      await sleep(1_000 / BOMBS_PER_S);
    }
  }
});

interface Message {
  readonly type: string;
  readonly payload: unknown;
}

async function openSocket(root: string, key: string): Promise<WebSocket> {
  const socket = new WebSocket(`${root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  await once(socket, 'message');
  return socket;
}

let asked = 0;

/** The first answer to an operation. */
async function ask(socket: WebSocket, payload: object): Promise<Message> {
  asked += 1;
  const id = String(asked);
  const answer = new Promise<Message>((resolve) => {
    const close = (code: number): void => resolve({ type: `closed with ${code}`, payload: null });
    const listen = (data: Buffer): void => {
      const message = JSON.parse(String(data)) as Message & { id: string };
      if (message.id !== id || message.type === 'complete') return;
      socket.off('message', listen);
      socket.off('close', close);
      resolve(message);
    };
    socket.on('message', listen);
    socket.once('close', close);
  });
  socket.send(JSON.stringify({ id, type: 'subscribe', payload }));
  return answer;
}

function p95(values: readonly number[]): number {
  return values.toSorted((one, two) => one - two)[Math.floor(values.length * 0.95)]!;
}

function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}
