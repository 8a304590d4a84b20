import { addressBlock } from '../../services/identity/admission/address-block.ts';
import { CLIENT_ID_PATTERN } from '../../services/identity/oauth/oauth-client.ts';

/** What OAuth requests are counted by: client and address. Everything that cannot be a client counts as one. */
export function clientSubject(clientId: unknown, clientAddress: string): string {
  const client = typeof clientId === 'string' && CLIENT_ID_PATTERN.test(clientId) ? clientId : 'unnamed';
  return `${client}@${addressBlock(clientAddress)}`;
}
