import { createHash } from 'node:crypto';
import { addressBlock } from '../../services/identity/admission/address-block.ts';
import { CLIENT_ID_PATTERN } from '../../services/identity/oauth/oauth-client.ts';

/** Clients of an address that are counted apart. Whoever makes up ids meets the limit of each before long. */
const APART = 64;

/** What OAuth requests are counted by: client and address. Everything that cannot be a client counts as one. */
export function clientSubject(clientId: unknown, clientAddress: string): string {
  const isClient = typeof clientId === 'string' && CLIENT_ID_PATTERN.test(clientId);
  const client = isClient ? `client-${createHash('sha256').update(clientId).digest()[0]! % APART}` : 'unnamed';
  return `${client}@${addressBlock(clientAddress)}`;
}
