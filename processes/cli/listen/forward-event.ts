import { newUuid, publicId } from '../../../platform/identifiers.ts';
import { signatureHeaders } from '../../../services/webhooks/signature.ts';
import type { HeardEvent } from './follow-events.ts';

/** As a webhook has it (decisions, webhooks). */
const TIMEOUT_MS = 15_000;

export interface Receiver {
  readonly url: string;
  /** What the messages of this session are signed with. */
  readonly secret: string;
}

/** What came of a message: the status of the answer, or why there was none. */
export type ForwardOutcome = { readonly elapsedMs: number } & (
  | { readonly status: number }
  | { readonly failure: string }
);

/** Sends an event once, as a webhook would be sent: same body, headers and signatures. Redirects are not followed. */
export async function forwardEvent(
  { url, secret }: Receiver,
  { id, type, body }: HeardEvent,
  signal: AbortSignal,
): Promise<ForwardOutcome> {
  const startedMs = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedMs);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1.0',
    'X-SVC-Event': type,
    'X-SVC-Delivery': publicId('dlv', newUuid()),
    'X-SVC-Attempt': '1',
    ...signatureHeaders({ eventId: id, sentAt: new Date(), body }, [secret]),
  };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return { status: response.status, elapsedMs: elapsed() };
  } catch (error) {
    signal.throwIfAborted();
    return { failure: whyOf(error as Error), elapsedMs: elapsed() };
  }
}

function whyOf(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer in ${TIMEOUT_MS / 1000} s`;
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  if (cause?.code === 'ECONNREFUSED') return 'nobody listens there';
  return cause?.message ?? cause?.code ?? error.message;
}
