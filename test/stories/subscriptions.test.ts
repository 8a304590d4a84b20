import { daysAgo } from '../days-ago.ts';
import { GraphSocket } from '../graph-socket.ts';
import { BOTH_LAYOUTS, Caller, openHouse } from '../house.ts';
import { smallestShop } from '../smallest-shop.ts';

const ROWS = smallestShop(daysAgo(30), daysAgo(29));
/** What all of them have, so that a client asks each in the same words. */
const COMMON = 'sequence kind progress stage channelImpact { channel share } trust { hreiScore riskLevel }';
const NO_RISK = { hreiScore: 0, riskLevel: 'MINIMAL' };

interface Trust {
  readonly hreiScore: number;
  readonly riskLevel: string;
}

test.each(BOTH_LAYOUTS)('each subscription answers the members that all have in common, %s', async (layout) => {
  const house = await openHouse(layout);
  const caller = await Caller.register(house.root);
  const socket = new GraphSocket(house.root, caller.key!);
  try {
    const shop = { type: 'csv_upload', credentials: { content: ROWS } };
    const id = String((await caller.post('/data-sources/connect', shop)).body['data_source_id']);
    const range = { data_source_id: id, date_range: [daysAgo(30), daysAgo(1)], model: 'markov' };
    const analysis = String((await caller.post('/attribution', range)).body['id']);
    const first = async (field: string) => {
      const stream = socket.watch<Record<string, unknown>>(`subscription { ${field} { ${COMMON} } }`);
      const item = await stream.next();
      await stream.close();
      return item;
    };
    const common = { sequence: expect.any(Number), channelImpact: null, trust: NO_RISK };
    const watching = { ...common, kind: 'PROGRESS', progress: 0, stage: 'watching' };
    expect(await first('tierChanged')).toEqual(watching);
    expect(await first(`attributionChanged(dataSourceId: "${id}")`)).toEqual(watching);
    expect(await first(`dataSourceStatus(id: "${id}")`)).toEqual({
      ...common,
      kind: 'RESULT',
      progress: 1,
      stage: 'connected',
    });
    expect(await first(`attributionProgress(id: "${analysis}")`)).toMatchObject({ ...common, stage: 'queued' });
    const stream = socket.watch<Record<string, unknown> & { readonly trust: Trust }>(
      `subscription { attributionProgress(id: "${analysis}") { ${COMMON} result { trust { hreiScore riskLevel } } } }`,
    );
    const last = (await stream.until(({ kind }) => kind === 'RESULT')).at(-1)!;
    expect(last.trust.hreiScore).toBeGreaterThan(0);
    expect(last['result']).toEqual({ trust: last.trust });
    await stream.close();
    const events = socket.watch(`subscription { events { position trust { hreiScore riskLevel } } }`);
    expect(await events.next()).toEqual({ position: expect.any(Number), trust: NO_RISK });
    await events.close();
  } finally {
    await socket.close();
    await house.stop();
  }
});
