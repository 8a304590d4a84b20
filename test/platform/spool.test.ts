import { Spool } from '../../platform/spool.ts';

const GIB = 1024 ** 3;
const full = new Error('no room');

/** A disk on which nothing is written but what is held, and only when it is said to be. */
function openSpool({ free, reserve = 0, share = 1 }: { free: number; reserve?: number; share?: number }) {
  const disk = { free };
  const spool = new Spool({
    reserveBytes: reserve,
    share,
    freeBytesOf: () => Promise.resolve(disk.free),
    refusal: () => full,
  });
  return { disk, hold: (tenant: string) => spool.hold(tenant, '/srv') };
}

test('all files of a tenant together have a quarter of what others leave beyond the reserve', async () => {
  const { hold } = openSpool({ free: 9 * GIB, reserve: GIB });
  const [first, second] = [hold('busy'), hold('busy')];
  await first.growTo(1.5 * GIB);
  await expect(second.growTo(0.6 * GIB)).rejects.toEqual(full);
  await second.growTo(0.5 * GIB);
  first[Symbol.dispose]();
  await second.growTo(2 * GIB);
});

test('however many take as much as they may, the next one finds room, and the reserve stays', async () => {
  const { disk, hold } = openSpool({ free: 9 * GIB, reserve: GIB });
  for (let tenant = 0; tenant < 12; tenant += 1) {
    const held = hold(`tenant ${tenant}`);
    const share = 0.25 * (disk.free - GIB);
    await expect(held.growTo(share + 1024)).rejects.toEqual(full);
    await held.growTo(share);
    disk.free -= share;
    held.complete(share);
  }
  expect(disk.free).toBeGreaterThan(GIB);
  await hold('neighbour').growTo(0.01 * GIB);
});

test("what was granted and is not written yet is nobody else's", async () => {
  const { hold } = openSpool({ free: 4 * GIB });
  await hold('one').growTo(GIB);
  await expect(hold('other').growTo(GIB)).rejects.toEqual(full);
  await hold('other').growTo(0.75 * GIB);
});

test('a file that is complete gives back what it did not need', async () => {
  const { hold } = openSpool({ free: 4 * GIB });
  const held = hold('one');
  await held.growTo(GIB);
  held.complete(0);
  await hold('one').growTo(GIB);
});

test('all files together have their share of what is left beyond the reserve', async () => {
  const { disk, hold } = openSpool({ free: 9 * GIB, reserve: GIB, share: 0.5 });
  const written = [2, 1.5].map(async (gibibytes, tenant) => {
    const held = hold(`tenant ${tenant}`);
    await held.growTo(gibibytes * GIB);
    disk.free -= gibibytes * GIB;
    held.complete(gibibytes * GIB);
    return held;
  });
  const [first] = await Promise.all(written);
  await expect(hold('third').growTo(0.6 * GIB)).rejects.toEqual(full);
  await hold('third').growTo(0.5 * GIB);
  first![Symbol.dispose]();
  disk.free += 2 * GIB;
  await hold('fourth').growTo(0.6 * GIB);
});
