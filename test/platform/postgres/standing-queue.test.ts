import { StandingQueue } from '../../../platform/postgres/standing-queue.ts';

/** A server that answers so many a millisecond, in front of which whoever is let in waits. */
class Server {
  nowMs = 0;
  waiting: number[] = [];
  refused = 0;
  readonly waitsMs: number[] = [];
  readonly turns: { readonly isStanding: boolean; readonly refused: number }[] = [];
  readonly #perMs: number;
  readonly #queue = new StandingQueue({
    nowMs: () => this.nowMs,
    turned: (isStanding, refused) => this.turns.push({ isStanding, refused }),
  });

  constructor(perMs: number) {
    this.#perMs = perMs;
  }

  /** Lets time pass while so many arrive in each millisecond. */
  run(ms: number, arrivalsPerMs: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; this.nowMs += 1) {
      for (let arrival = 0; arrival < arrivalsPerMs; arrival += 1) {
        if (this.#queue.isTooLong(this.waiting.length)) this.refused += 1;
        else this.waiting.push(this.nowMs);
      }
      for (const sinceMs of this.waiting.splice(0, this.#perMs)) this.waitsMs.push(this.nowMs - sinceMs);
    }
  }
}

describe('a queue', () => {
  test('takes a burst whole, however often bursts come', () => {
    const server = new Server(1);
    for (let burst = 0; burst < 20; burst += 1) {
      server.run(1, 250);
      server.run(900, 0);
    }
    expect(server.refused).toBe(0);
    expect(server.turns).toEqual([]);
  });

  test('takes as much as can be answered for as long as it comes', () => {
    const server = new Server(2);
    server.run(60_000, 2);
    expect(server.refused).toBe(0);
  });

  test('is never longer than can be answered in time', () => {
    const server = new Server(0);
    server.run(1, 10_000);
    expect(server.waiting.length).toBe(256);
  });

  test('that stands is cut: what is let in is answered soon, and nothing of the capacity is lost', () => {
    const server = new Server(1);
    server.run(2_000, 5);
    const answeredBefore = server.waitsMs.length;
    server.run(10_000, 5);
    const waitsMs = server.waitsMs.slice(answeredBefore);
    expect(waitsMs.length).toBe(10_000);
    expect(Math.max(...waitsMs)).toBeLessThanOrEqual(32);
    expect(server.turns).toEqual([{ isStanding: true, refused: expect.any(Number) }]);
  });

  test('has forgotten what was half a second after it is over, and says how many were sent away', () => {
    const server = new Server(1);
    server.run(3_000, 5);
    server.run(600, 1);
    const refused = server.refused;
    server.run(1, 200);
    expect(server.refused).toBe(refused);
    expect(server.turns.map(({ isStanding }) => isStanding)).toEqual([true, false]);
    expect(server.turns[0]!.refused + server.turns[1]!.refused).toBe(refused);
  });
});
