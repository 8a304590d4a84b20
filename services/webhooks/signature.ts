import { createHmac, randomBytes } from 'node:crypto';
import { GENERATED_PREFIX, isGeneratedKind } from '../../schema/webhook-secret.ts';

const GENERATED_BYTES = 32;

/** A fresh secret: `whsec_` and 32 random bytes in base64 (Standard Webhooks, Symmetric keys). */
export function newWebhookSecret(): string {
  return `${GENERATED_PREFIX}${randomBytes(GENERATED_BYTES).toString('base64')}`;
}

/** A message as it is signed. */
export interface SignedMessage {
  /** `evt_…`: the same on every repeat, so that receivers can drop doubles. */
  readonly eventId: string;
  /** Of this attempt; receivers refuse what is older than five minutes. */
  readonly sentAt: Date;
  /** The bytes that are sent. */
  readonly body: string;
}

/**
 * The signatures of a message. `X-SVC-Signature` is the contract's: lower-case hex HMAC-SHA256 of the raw body under
 * the secret's own bytes (§6). The `webhook-*` trio is that of Standard Webhooks 1.0: base64 HMAC-SHA256 of
 * `id.timestamp.body`, keyed by what a `whsec_` secret encodes, or by any other secret's bytes.
 * @param secrets the current one first; a replaced one signs beside it for a day
 */
export function signatureHeaders(
  message: SignedMessage,
  secrets: readonly [current: string, ...replaced: string[]],
): Record<string, string> {
  const timestamp = String(Math.floor(message.sentAt.getTime() / 1000));
  const signed = `${message.eventId}.${timestamp}.${message.body}`;
  return {
    'X-SVC-Signature': createHmac('sha256', Buffer.from(secrets[0], 'utf8')).update(message.body).digest('hex'),
    'webhook-id': message.eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets
      .map((secret) => `v1,${createHmac('sha256', standardKey(secret)).update(signed).digest('base64')}`)
      .join(' '),
  };
}

function standardKey(secret: string): Buffer {
  return isGeneratedKind(secret)
    ? Buffer.from(secret.slice(GENERATED_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8');
}
