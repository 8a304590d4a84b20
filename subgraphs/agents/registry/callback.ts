import { newUuid, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { secretPrefixOf, type EndpointSecrets } from '../../../services/webhooks/endpoint-secret.ts';
import {
  changeEndpoint,
  deleteEndpoint,
  findCallback,
  insertEndpoint,
} from '../../../services/webhooks/endpoint-store.ts';
import { newWebhookSecret } from '../../../services/webhooks/signature.ts';
import { wholeAccount, type TenantScope } from '../../../platform/postgres/database.ts';

/** The scope that callbacks are kept in: commissions are never earned in the sandbox. */
export function callbackScope(accountId: string): TenantScope {
  return wholeAccount({ accountId, environment: 'live' });
}

/**
 * Sends the agent's commission notifications to `url` from now on, or nowhere when it is null. The transaction is one
 * of {@link callbackScope}. An address that is replaced keeps its secret.
 * @returns the secret that signs them, where there was none before; it is shown once
 */
export async function setCallback(
  em: SqlEntityManager,
  secrets: EndpointSecrets,
  accountId: Uuid,
  url: string | null,
  apiVersion: string,
): Promise<string | null> {
  const existing = await findCallback(em);
  if (url === null) {
    if (existing !== null) await deleteEndpoint(em, existing.id);
    return null;
  }
  if (existing !== null) {
    await changeEndpoint(em, existing.id, { url, isActive: true });
    return null;
  }
  const id = newUuid();
  const secret = newWebhookSecret();
  await insertEndpoint(em, {
    id,
    kind: 'callback',
    accountId,
    environment: 'live',
    workspaceId: null,
    url,
    events: [],
    scopes: [],
    metadata: {},
    sealedSecret: secrets.seal(secret, id),
    secretPrefix: secretPrefixOf(secret),
    apiVersion,
  });
  return secret;
}
