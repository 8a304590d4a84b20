// A process that relays events, and charges analyses or pays what they earn as well: the test kills it.
import '../../processes/typescript-hook.mjs';

const { setTimeout: sleep } = await import('node:timers/promises');
const { pino } = await import('pino');
const { openDatabase } = await import('../../platform/postgres/database.ts');
const { createPubSub } = await import('../../platform/postgres/pub-sub.ts');
const { startRelay } = await import('../../services/events/relay.ts');
const { chargeAnalyses } = await import('../../subgraphs/billing/fees/charge-analyses.ts');

const { isRepetition } = await import('../../subgraphs/billing/fees/charge.ts');
const { accrueReferrals } = await import('../../subgraphs/agents/referrals/accrue-referrals.ts');
const { earnCommissions } = await import('../../subgraphs/billing/commissions/earn-commissions.ts');

const { url, dawdleMs, plant, earns } = JSON.parse(process.argv[2]);
const logger = pino({ level: 'silent' });
const database = await openDatabase({ url, entities: [], applicationName: 'doomed-relay', poolMax: 4, logger });
const pubSub = await createPubSub({ url, database, logger });
// Between the charge and the commit, where a kill hurts most.
const dawdle = () => sleep(Math.random() * dawdleMs);
// Planted faults: what the checks of the test must find.
const planted = {
  'charges before the event is its own': async (em, event) => {
    await database.asTenant({ ...event, workspace: null }, (other) => chargeAnalyses(other, event));
    if (Math.random() < 0.3) throw new Error('the transaction of the event fails');
  },
  'passes over an event': async (em, event) => {
    if (event.data.delta_r_cents % 7 !== 0) await chargeAnalyses(em, event);
  },
  // It waits for what it does itself, elsewhere.
  'earns before the event is its own': () => undefined,
  'forgets what was asked before': (em, event) =>
    chargeAnalyses(em, { ...event, data: { ...event.data, input_digest: null } }),
};
const tiers = { pubSub, tierTable: 'three' };
const earn = earnCommissions({ ...tiers, decay: 'none' });
const earning =
  plant === 'earns before the event is its own'
    ? async (em, event) => {
        await database.asTenant({ ...event, workspace: null }, (other) => chargeAnalyses(other, event));
        await database.asTenant({ ...event, workspace: null }, (other) => earn(other, event));
        if (Math.random() < 0.3) throw new Error('the transaction of the event fails');
      }
    : earn;
const consumers = [
  planted[plant] ?? chargeAnalyses,
  ...(earns ? [dawdle, accrueReferrals({ ...tiers, isRepetition }), earning] : []),
  dawdle,
];
startRelay({ database, pubSub, consumers, logger });
// Whoever started it may be gone, or have failed.
process.once('disconnect', () => process.exit());
process.send?.('up');
