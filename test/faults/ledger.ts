import { Caller, type Answer, type Json } from '../house.ts';
import { digestOf, history, stored } from './analyses.ts';
import { brokenSession, type AcknowledgedSession } from './sessions.ts';

/** A source, with what was acknowledged of it. */
export interface AcknowledgedSource {
  readonly id: string;
  /** Rows of the files that were acknowledged; sending one again adds nothing. */
  touchpoints: number;
  conversions: number;
  /** Begun when all of the source's rows were there. */
  readonly analyses: string[];
}

/** A key that took the place of the one that the registration gave. */
export interface AcknowledgedRotation {
  readonly idempotencyKey: string;
  /** The answer, byte by byte. */
  readonly text: string;
  readonly key: string;
}

/** A tenant, with what was acknowledged to it. */
export interface AcknowledgedTenant {
  readonly agentId: string;
  /** Of its registration; works on through the grace of its rotation, a day. */
  readonly key: string;
  readonly rotations: AcknowledgedRotation[];
  readonly sessions: AcknowledgedSession[];
  readonly sources: AcknowledgedSource[];
}

/** Everything that the service has said yes to, kept where no kill reaches it. */
export type Ledger = AcknowledgedTenant[];

/**
 * Compares a calm service with what it acknowledged.
 * @returns one line per promise that was broken
 */
export async function brokenPromises(ledger: Ledger, root: string): Promise<string[]> {
  const callerOf = (key: string): Caller => new Caller(root, key);
  const broken: string[] = [];
  for (const tenant of ledger) {
    const caller = callerOf(tenant.key);
    const list = await caller.get('/data-sources?per_page=100');
    if (list.status !== 200) {
      broken.push(`a key that was handed out is answered with ${list.status}`);
      continue;
    }
    broken.push(...(await brokenLogOf(caller)), ...(await brokenRotationsOf(tenant, callerOf)));
    for (const session of tenant.sessions) broken.push(...(await brokenSession(root, session)));
    const known = new Set(
      (list.body['sources'] as unknown as { data_source_id: string }[]).map((each) => each.data_source_id),
    );
    for (const source of tenant.sources) {
      if (known.has(source.id)) broken.push(...(await brokenPromisesOf(source, caller)));
      else broken.push(`${source.id} is gone`);
    }
  }
  return broken;
}

/** Replaces the key of the calling agent, which works on for a day. */
export function rotateKey(caller: Caller, idempotencyKey: string): Promise<Answer> {
  return caller.post('/agents/me/keys/rotate', {}, { 'svc-idempotency-key': idempotencyKey });
}

/** Both keys of a rotation work, the same request is answered by the same bytes, and it happened once. */
async function brokenRotationsOf(
  { key, rotations }: AcknowledgedTenant,
  callerOf: (key: string) => Caller,
): Promise<string[]> {
  const broken: string[] = [];
  // One rotation too many ends the key of the registration.
  const newest = callerOf(rotations.at(-1)?.key ?? key);
  for (const rotation of rotations) {
    const again = await rotateKey(callerOf(key), rotation.idempotencyKey);
    if (again.status !== 200 || again.text !== rotation.text)
      broken.push('a rotation that is asked for again is answered otherwise');
    const { status } = await callerOf(rotation.key).get('/data-sources');
    if (status !== 200) broken.push(`a key that took the place of another is answered with ${status}`);
  }
  const keys = (await newest.get('/keys?per_page=100')).body['keys'] as unknown as readonly {
    readonly status: string;
  }[];
  if (keys.length !== 1 + rotations.length)
    broken.push(`a key has ${keys.length - 1} successors, not ${rotations.length}`);
  const told = Number((await newest.get('/audit/events?event_type=agent.key_rotated')).body['total_count']);
  if (told !== rotations.length) broken.push(`a rotation stands in the audit log ${told} times`);
  return broken;
}

/** The audit log of the tenant: whole, and with its one registration once. */
async function brokenLogOf(caller: Caller): Promise<string[]> {
  const {
    chain_intact: isIntact,
    first_broken_sequence: place,
    reason,
  } = (await caller.post('/audit/verify', {})).body;
  if ((isIntact as unknown) !== true) return [`an audit chain is broken at ${String(place)}: ${String(reason)}`];
  const registrations = Number((await caller.get('/audit/events?event_type=agent.registered')).body['total_count']);
  return registrations === 1 ? [] : [`a registration stands in the audit log ${registrations} times`];
}

async function brokenPromisesOf(source: AcknowledgedSource, caller: Caller): Promise<string[]> {
  const broken: string[] = [];
  await measureAnew(caller, source.id);
  const { touchpoints, conversions } = await stored(caller, source.id);
  if (touchpoints !== source.touchpoints || conversions !== source.conversions) {
    broken.push(
      `${source.id} holds ${touchpoints} touchpoints and ${conversions} conversions, not ${source.touchpoints} and ` +
        `${source.conversions}`,
    );
  }
  const calm = new Map<string, string>();
  for (const id of source.analyses) {
    const events = await history(caller, id);
    const { status, body } = await caller.get(`/attribution/${id}`);
    const ends = events.filter(({ event }) => event === 'result' || event === 'error');
    if (ends.length !== 1) broken.push(`${id} has ${ends.length} last events`);
    if (events.some((event, place) => event.id !== place + 1)) broken.push(`${id} has gaps among its events`);
    if (status !== 200) broken.push(`${id} is answered with ${status}`);
    else if ((body['status'] as unknown) === 'completed') {
      const range = JSON.stringify(body['date_range']);
      if (!calm.has(range)) calm.set(range, await undisturbedDigest(caller, source.id, body['date_range']!));
      if (digestOf(body) !== calm.get(range)) broken.push(`${id} has other figures than an undisturbed run`);
      const check = (await caller.post('/verify', { result: body })).body;
      if ((check['valid'] as unknown) !== true)
        broken.push(`${id} is not vouched for: ${String(check['reason'] ?? check['error']?.['message'])}`);
    } else if ((body['status'] as unknown) !== 'failed' || body['failure'] === null)
      broken.push(`${id} is left ${String(body['status'])}`);
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
  const { body } = await caller.post(
    '/attribution',
    { data_source_id: source, date_range: dateRange },
    { prefer: 'wait=60' },
  );
  return digestOf(body);
}
