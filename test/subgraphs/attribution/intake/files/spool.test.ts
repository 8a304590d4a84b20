import { Spool } from '../../../../../subgraphs/attribution/intake/files/spool.ts';

const GIB = 1024 ** 3;
const full = expect.objectContaining({
  type: 'service_unavailable',
  problem: expect.objectContaining({ code: 'disk_full' }),
});

/** A disk on which nothing is written but what is held, and only when it is said to be. */
function openSpool({ free, reserve = 0 }: { free: number; reserve?: number }) {
  const disk = { free };
  const spool = new Spool({ reserveBytes: reserve, freeBytesOf: () => Promise.resolve(disk.free) });
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
