import { createHmac } from 'node:crypto';
import { EVENT_CATALOGUE, type EventType } from '../../schema/event-catalogue.ts';
import { recordEvent } from '../../services/events/outbox.ts';
import type { Uuid } from '../../platform/identifiers.ts';
import { wholeAccount } from '../../platform/postgres/database.ts';
import type { Answer, Caller, House, Json } from '../house.ts';
import type { Received, Receiver } from '../webhook-receiver.ts';

/** Where something happens: live, and in no workspace, unless it says otherwise. */
interface Place {
  readonly environment?: 'live' | 'sandbox';
  readonly workspaceId?: Uuid;
}

/** An account whose webhooks lead to a receiver. */
export class Subscriber {
  readonly house: House;
  readonly receiver: Receiver;
  readonly caller: Caller;
  readonly accountId: Uuid;

  private constructor(house: House, receiver: Receiver, caller: Caller, accountId: Uuid) {
    this.house = house;
    this.receiver = receiver;
    this.caller = caller;
    this.accountId = accountId;
  }

  static async of(house: House, receiver: Receiver, caller: Caller): Promise<Subscriber> {
    const [found] = await house.keys.find(caller.key!);
    return new Subscriber(house, receiver, caller, found!.accountId);
  }

  readonly create = (body: object, by = this.caller): Promise<Answer> =>
    by.post('/webhooks', { url: `${this.receiver.url}/any`, events: ['*'], ...body });

  readonly patch = (id: string, body: object): Promise<Answer> =>
    this.caller.send('PATCH', `/webhooks/${id}`, JSON.stringify(body), { 'content-type': 'application/json' });

  /** Something happens, as the transaction of a domain would record it. */
  readonly happens = (type: EventType, { environment = 'live', ...where }: Place = {}) =>
    this.house.backing.database.asTenant(wholeAccount({ accountId: this.accountId, environment }), (em) =>
      recordEvent(em, this.house.backing.pubSub, {
        accountId: this.accountId,
        environment,
        type,
        subject: 'attr_0351EFUQxpVTZ7WdNYMSuY',
        data: EVENT_CATALOGUE[type].example as never,
        ...where,
      }),
    );

  /** The deliveries of a webhook once none is pending. */
  readonly settled = async (id: string, query = ''): Promise<Json[]> => {
    for (const deadlineMs = performance.now() + 10_000; ;) {
      const deliveries = list(await this.caller.get(`/webhooks/${id}/deliveries${query}`), 'deliveries');
      if (deliveries.length > 0 && deliveries.every(({ status }) => String(status) !== 'pending')) return deliveries;
      if (performance.now() > deadlineMs) throw new Error(`deliveries stay pending: ${JSON.stringify(deliveries)}`);
    }
  };
}

/** The id of no webhook. */
export const UNKNOWN = '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10';

/** Status, type, code and parameter of a refusal. */
export const refusal = ({ status, body }: Answer) => [
  status,
  body['error']?.['type'],
  body['error']?.['code'],
  body['error']?.['param'],
];
export const list = (answered: Answer, member: string) => answered.body[member] as unknown as Json[];
export const at = (path: string) => (received: Received) => received.path === path;

export const hmac = (secret: string, body: string): string => createHmac('sha256', secret).update(body).digest('hex');

/** What is sent of an event that happened. */
export const messageOf = (
  { type, occurredAt }: { readonly type: EventType; readonly occurredAt: Date },
  to: { readonly webhook_id: unknown; readonly metadata: object },
) => ({
  id: expect.stringMatching(/^evt_\w{22}$/),
  type,
  timestamp: occurredAt.toISOString(),
  api_version: '2026-02-01',
  environment: 'live',
  data: EVENT_CATALOGUE[type].example,
  ...to,
});

/** What is answered for a subscription that was made just now, without its secret. */
export const newSubscription = (asked: { url: string; events: string[]; metadata: object }, secret: string) => ({
  ...asked,
  id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  active: true,
  secret_prefix: `${secret.slice(0, 8)}…`,
  api_version: '2026-02-01',
  environment: 'live',
  created_at: expect.any(String),
  updated_at: expect.any(String),
  disabled_reason: null,
  stats: { delivered: 0, failed: 0, last_success_at: null, last_failure_at: null },
});

/** What is listed of a delivery that was answered with 200 at its first attempt. */
export const deliveredOnce = ({ headers, message }: Received, url: string) => ({
  id: headers['x-svc-delivery'],
  event_id: message.id,
  event_type: message.type,
  attempt: 1,
  status: 'success',
  url,
  response_status: 200,
  response_time_ms: expect.any(Number),
  response_body: 'ok',
  error: null,
  scheduled_at: expect.any(String),
  sent_at: expect.any(String),
  completed_at: expect.any(String),
  next_attempt_at: null,
  test: false,
  request_headers: expect.objectContaining({
    'X-SVC-Signature': headers['x-svc-signature'],
    'webhook-id': message.id,
  }),
});

/** Bodies that are refused, with the parameter that the refusal names. */
export const WRONG_BODIES: readonly (readonly [object, string])[] = [
  [{ url: 'nonsense' }, '/url'],
  [{ url: 'ftp://hooks.example/' }, '/url'],
  [{ url: `https://hooks.example/${'x'.repeat(2048)}` }, '/url'],
  [{ url: 'https://user:pass@hooks.example/' }, '/url'],
  [{ url: 'https://nowhere.invalid/' }, '/url'],
  [{ events: [] }, '/events'],
  [{ events: ['shop.burnt'] }, '/events/0'],
  [{ events: ['*', 'health.alert'] }, '/events'],
  [{ events: 'health.alert' }, '/events'],
  [{ metadata: { a: 'x'.repeat(501) } }, '/metadata/a'],
  [{ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v'])) }, '/metadata'],
  [{ metadata: { a: 1 } }, '/metadata/a'],
  [{ secret: 'short' }, '/secret'],
  [{ secret: 'whsec_no base64!' }, '/secret'],
];
