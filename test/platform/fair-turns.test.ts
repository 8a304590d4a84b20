import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { CrowdedTurnsError, FairTurns, type Release } from '../../platform/fair-turns.ts';

/** Asks for places in the order given and records in which order they are had; `end` gives the oldest one back. */
function bookings(turns: FairTurns) {
  const begun: string[] = [];
  const held: { readonly tenant: string; readonly release: Release }[] = [];
  return {
    begun,
    held,
    async ask(tenant: string): Promise<void> {
      const release = await turns.take(tenant);
      begun.push(tenant);
      held.push({ tenant, release });
    },
    async end(cost?: number) {
      held.shift()?.release(cost);
      await turn();
    },
  };
}

describe('turns handed out among tenants', () => {
  it('puts a neighbour in front of what one tenant has waiting', async () => {
    const { ask, begun, end } = bookings(new FairTurns({ places: 1, perTenant: 1 }));
    for (let upload = 0; upload < 50; upload += 1) void ask('busy');
    await turn();
    void ask('neighbour');
    await end();
    expect(begun).toEqual(['busy', 'neighbour']);
  });

  it('leaves places free that one tenant may not have', async () => {
    const { ask, begun } = bookings(new FairTurns({ places: 3, perTenant: 2 }));
    for (let upload = 0; upload < 5; upload += 1) void ask('busy');
    await turn();
    expect(begun).toEqual(['busy', 'busy']);
    void ask('neighbour');
    await turn();
    expect(begun).toEqual(['busy', 'busy', 'neighbour']);
  });

  it('refuses who has too many waiting, and nobody else', async () => {
    const turns = new FairTurns({ places: 1, perTenant: 1, waitingPerTenant: 2 });
    const { ask, begun, end } = bookings(turns);
    for (let upload = 0; upload < 3; upload += 1) void ask('busy');
    await turn();
    await expect(turns.take('busy')).rejects.toThrow(CrowdedTurnsError);
    void ask('neighbour');
    await end();
    expect(begun).toEqual(['busy', 'neighbour']);
  });

  it('lets whoever gives up go, and gives the place to the next', async () => {
    const turns = new FairTurns({ places: 1, perTenant: 1 });
    const { ask, begun, end } = bookings(turns);
    void ask('first');
    const patience = new AbortController();
    const impatient = turns.take('second', patience.signal);
    void ask('third');
    await turn();
    patience.abort(new Error('gone'));
    await expect(impatient).rejects.toThrow('gone');
    await end();
    expect(begun).toEqual(['first', 'third']);
    expect(turns.waiting).toBe(0);
  });

  it('counts a place that is given back twice once', async () => {
    const turns = new FairTurns({ places: 1, perTenant: 1 });
    const release = await turns.take('a');
    release();
    release();
    const { ask, begun } = bookings(turns);
    void ask('b');
    void ask('c');
    await turn();
    expect(begun).toEqual(['b']);
  });

  it('serves who was served longest ago first, also when that was a while ago', async () => {
    const { ask, begun, end } = bookings(new FairTurns({ places: 1, perTenant: 1 }));
    void ask('neighbour');
    await turn();
    await end();
    for (const comer of ['a', 'b', 'c', 'a']) void ask(comer);
    await turn();
    void ask('neighbour');
    void ask('stranger');
    for (let served = 0; served < 5; served += 1) await end();
    expect(begun).toEqual(['neighbour', 'a', 'neighbour', 'b', 'c', 'stranger', 'a']);
  });

  it('does not let those who leave and come again shut out one who waits', async () => {
    const { ask, begun, end } = bookings(new FairTurns({ places: 1, perTenant: 1 }));
    void ask('neighbour');
    void ask('neighbour');
    await turn();
    for (const comer of ['a', 'b']) void ask(comer);
    for (const comer of ['a', 'b', 'a', 'b']) {
      await end();
      void ask(comer);
    }
    expect(begun.slice(0, 4)).toEqual(['neighbour', 'a', 'b', 'neighbour']);
  });

  describe('where turns are worth what they cost', () => {
    /** One place; each turn costs what its tenant's do. */
    async function orderOf(asked: readonly string[], costs: Readonly<Record<string, number>>, after = '') {
      const { ask, begun, held, end } = bookings(new FairTurns({ places: 1, perTenant: 1, expectedCost: 1_000 }));
      for (const tenant of after) {
        void ask(tenant);
        await turn();
        await end(costs[tenant]!);
      }
      const first = begun.length;
      for (const tenant of asked) void ask(tenant);
      await turn();
      while (held.length > 0) {
        await end(costs[held[0]!.tenant]!);
      }
      return begun.slice(first).join('');
    }

    it('gives who has dear ones fewer than who has cheap ones', async () => {
      expect(await orderOf([...'aaabbb'], { a: 1_000, b: 100 })).toBe('abbbaa');
    });

    it('lets one who is known for cheap ones go before strangers', async () => {
      const costs = Object.fromEntries([...'abcdefghn'].map((tenant) => [tenant, tenant === 'n' ? 100 : 2_000]));
      expect((await orderOf([...'abcdefghn'], costs, 'nnn')).slice(0, 3)).toBe('anb');
    });

    it('holds against nobody what was used while nobody waited', async () => {
      expect(await orderOf([...'anba'], { a: 2_000, b: 2_000, n: 1_000 }, 'nnnnn')).toBe('anba');
    });

    it('lets each tenant have what the latest turn of one who waits cost, and a turn more', async () => {
      const tenants = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 2, maxLength: 40 });
      const ms = fc.integer({ min: 10, max: 3_000 });
      await fc.assert(
        fc.asyncProperty(tenants, fc.record({ a: ms, b: ms, c: ms, d: ms }), async (asked, costs) => {
          const begun = await orderOf(asked, costs);
          expect([...begun].toSorted()).toEqual(asked.toSorted());
          for (const [index, tenant] of [...begun].entries()) {
            const next = begun.indexOf(tenant, index + 1);
            if (next < 0) continue;
            const between = begun.slice(index + 1, next);
            const own = costs[tenant as keyof typeof costs];
            for (const other of new Set(between)) {
              const turns = [...between].filter((each) => each === other).length;
              const turnMs = costs[other as keyof typeof costs];
              expect((turns - 1) * turnMs).toBeLessThanOrEqual(2 * Math.max(own, 1_000));
            }
          }
        }),
      );
    });
  });

  it('never exceeds its places, serves everybody, and lets nobody be passed twice by one other tenant', async () => {
    const tenants = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        tenants,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        async (asked, places, perTenant) => {
          const { ask, begun, held, end } = bookings(new FairTurns({ places, perTenant }));
          for (const tenant of asked) void ask(tenant);
          await turn();
          while (held.length > 0) {
            expect(held.length).toBeLessThanOrEqual(places);
            for (const { tenant } of held)
              expect(held.filter((other) => other.tenant === tenant).length).toBeLessThanOrEqual(perTenant);
            await end();
          }
          expect(begun.toSorted()).toEqual(asked.toSorted());
          // All asked at the start: between two turns of one tenant, every other one that still waits has its own.
          if (places > 1) return;
          for (const [index, tenant] of begun.entries()) {
            const next = begun.indexOf(tenant, index + 1);
            if (next < 0) continue;
            for (const other of new Set(begun.slice(next))) expect(begun.slice(index, next + 1)).toContain(other);
          }
        },
      ),
    );
  });
});
