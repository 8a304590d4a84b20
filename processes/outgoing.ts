import type { Config } from './config/config.ts';
import { SEND_TIMEOUT_MS, SHOWN_RESPONSE_BYTES } from '../services/webhooks/send-message.ts';
import { createCaller, type Caller } from '../platform/outgoing/caller.ts';

/** The way out of this process, to addresses that customers name. */
export function openOutgoing({ webhookAllowPrivate }: Pick<Config, 'webhookAllowPrivate'>): Caller {
  return createCaller({
    allowPrivate: webhookAllowPrivate,
    timeoutMs: SEND_TIMEOUT_MS,
    maxResponseBytes: SHOWN_RESPONSE_BYTES,
  });
}
