import type { Caller, Json } from '../house.ts';
import { digestOf, history, stored } from './analyses.ts';

/** A source, with what was acknowledged of it. */
export interface AcknowledgedSource {
  readonly id: string;
  /** Rows of the files that were acknowledged; sending one again adds nothing. */
  touchpoints: number;
  conversions: number;
  /** Begun when all of the source's rows were there. */
  readonly analyses: string[];
}

/** A tenant, with what was acknowledged to it. */
export interface AcknowledgedTenant {
  readonly key: string;
  readonly sources: AcknowledgedSource[];
}

/** Everything that the service has said yes to, kept where no kill reaches it. */
export type Ledger = AcknowledgedTenant[];

/**
 * Compares a calm service with what it acknowledged.
 * @returns one line per promise that was broken
 */
export async function brokenPromises(ledger: Ledger, callerOf: (key: string) => Caller): Promise<string[]> {
  const broken: string[] = [];
  for (const tenant of ledger) {
    const caller = callerOf(tenant.key);
    const list = await caller.get('/data-sources?per_page=100');
    if (list.status !== 200) {
      broken.push(`a key that was handed out is answered with ${list.status}`);
      continue;
    }
    broken.push(...(await brokenLogOf(caller)));
    const known = new Set((list.body['sources'] as unknown as { data_source_id: string }[]).map((each) => each.data_source_id));
    for (const source of tenant.sources) {
      if (known.has(source.id)) broken.push(...(await brokenPromisesOf(source, caller)));
      else broken.push(`${source.id} is gone`);
    }
  }
  return broken;
}

/** The audit log of the tenant: whole, and with its one registration once. */
async function brokenLogOf(caller: Caller): Promise<string[]> {
  const { chain_intact: isIntact, first_broken_sequence: place, reason } = (await caller.post('/audit/verify', {})).body;
  if (isIntact as unknown !== true) return [`an audit chain is broken at ${String(place)}: ${String(reason)}`];
  const registrations = Number((await caller.get('/audit/events?event_type=agent.registered')).body['total_count']);
  return registrations === 1 ? [] : [`a registration stands in the audit log ${registrations} times`];
}

async function brokenPromisesOf(source: AcknowledgedSource, caller: Caller): Promise<string[]> {
  const broken: string[] = [];
  await measureAnew(caller, source.id);
  const { touchpoints, conversions } = await stored(caller, source.id);
  if (touchpoints !== source.touchpoints || conversions !== source.conversions) {
    broken.push(`${source.id} holds ${touchpoints} touchpoints and ${conversions} conversions, not ${source.touchpoints} and ${source.conversions}`);
  }
  const calm = new Map<string, string>();
  for (const id of source.analyses) {
    const events = await history(caller, id);
    const { status, body } = await caller.get(`/attribution/${id}`);
    const ends = events.filter(({ event }) => event === 'result' || event === 'error');
    if (ends.length !== 1) broken.push(`${id} has ${ends.length} last events`);
    if (events.some((event, place) => event.id !== place + 1)) broken.push(`${id} has gaps among its events`);
    if (status !== 200) broken.push(`${id} is answered with ${status}`);
    else if (body['status'] as unknown === 'completed') {
      const range = JSON.stringify(body['date_range']);
      if (!calm.has(range)) calm.set(range, await undisturbedDigest(caller, source.id, body['date_range']!));
      if (digestOf(body) !== calm.get(range)) broken.push(`${id} has other figures than an undisturbed run`);
      const check = (await caller.post('/verify', { result: body })).body;
      if (check['valid'] as unknown !== true) broken.push(`${id} is not vouched for: ${String(check['reason'] ?? check['error']?.['message'])}`);
    } else if (body['status'] as unknown !== 'failed' || body['failure'] === null) broken.push(`${id} is left ${String(body['status'])}`);
  }
  return broken;
}

/** Lets the service count what is stored, instead of telling what it remembers. */
async function measureAnew(caller: Caller, source: string): Promise<void> {
  const before = (await caller.get(`/data-sources/${source}/status`)).body['last_sync'];
  for (;;) {
    await caller.post(`/data-sources/${source}/sync`, {});
    const { body } = await caller.get(`/data-sources/${source}/status`);
    if (body['last_sync'] !== before) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function undisturbedDigest(caller: Caller, source: string, dateRange: Json): Promise<string> {
  const { body } = await caller.post('/attribution', { data_source_id: source, date_range: dateRange }, { prefer: 'wait=60' });
  return digestOf(body);
}
