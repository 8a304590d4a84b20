import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A message as its receiver took it: believed, and answered with a success. */
export interface TakenMessage {
  readonly id: string;
  readonly type: string;
  readonly webhookId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly attempt: number;
  readonly body: string;
}

/**
 * What it does with the messages that reach it, in turn and over again. A turn rather than chance: a day has few
 * events, and chance would now and then fail none of them.
 */
const MOODS = [
  'takes',
  'refuses',
  'takes',
  'takes',
  'hangs up',
  'takes',
  'takes',
  'takes and hangs up',
  'takes',
  'takes',
  'is busy',
  'takes',
] as const;

/** A message that was failed so often is taken the next time: the wait after the fourth failure is two minutes. */
const MOST_FAILURES = 2;

/**
 * A shop's receiver, written with what the specification says and a stock library. It is as unreliable as receivers
 * are: some messages it answers with an error, some with a broken connection, and some it takes but breaks the
 * connection before it says so.
 */
export class UnreliableReceiver {
  /** Every message that was believed, repeats included. */
  readonly taken: TakenMessage[] = [];
  /** What was wrong with a message; stays empty. */
  readonly complaints: string[] = [];
  readonly #server: Server;
  #secret: string | undefined;
  #received = 0;
  readonly #failuresOf = new Map<string, number>();

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async open(): Promise<UnreliableReceiver> {
    const receiver = new UnreliableReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  /** The secret that the registration showed. */
  set secret(secret: string) {
    this.#secret = secret;
  }

  /** How often it has failed a message on purpose. */
  get failures(): number {
    return [...this.#failuresOf.values()].reduce((sum, failures) => sum + failures, 0);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      // The sender was killed while it spoke: nothing was received.
      return;
    }
    const id = String(request.headers['webhook-id']);
    const failures = this.#failuresOf.get(id) ?? 0;
    const mood = failures < MOST_FAILURES ? MOODS[this.#received % MOODS.length]! : 'takes';
    this.#received += 1;
    if (mood.startsWith('takes')) this.#believe(request, Buffer.concat(chunks).toString());
    if (mood !== 'takes') this.#failuresOf.set(id, failures + 1);
    if (mood.endsWith('hangs up')) request.socket.destroy();
    else response.writeHead(mood === 'takes' ? 204 : mood === 'is busy' ? 429 : 500).end();
  }

  #believe(request: IncomingMessage, body: string): void {
    const header = (name: string): string => String(request.headers[name]);
    const secret = this.#secret!;
    const plain = createHmac('sha256', secret).update(body).digest();
    const shown = Buffer.from(header('x-svc-signature'), 'hex');
    if (shown.length !== plain.length || !timingSafeEqual(shown, plain))
      this.complaints.push(`X-SVC-Signature of ${header('webhook-id')} is not that of its body`);
    try {
      new Webhook(secret).verify(body, {
        'webhook-id': header('webhook-id'),
        'webhook-timestamp': header('webhook-timestamp'),
        'webhook-signature': header('webhook-signature'),
      });
    } catch (error) {
      this.complaints.push(`${header('webhook-id')}: ${(error as Error).message}`);
    }
    const {
      id,
      type,
      webhook_id: webhookId,
      data,
    } = JSON.parse(body) as { id: string; type: string; webhook_id: string | null; data: Record<string, unknown> };
    if (id !== header('webhook-id')) this.complaints.push(`${id} is called ${header('webhook-id')} in its header`);
    if (type !== header('x-svc-event')) this.complaints.push(`${id} is a ${type} and called ${header('x-svc-event')}`);
    if (!header('x-svc-delivery').startsWith('dlv_')) this.complaints.push(`${id} has no X-SVC-Delivery`);
    if (!/^application\/json\b/.test(header('content-type')))
      this.complaints.push(`${id} is ${header('content-type')}`);
    this.taken.push({ id, type, webhookId, data, attempt: Number(header('x-svc-attempt')), body });
  }
}
