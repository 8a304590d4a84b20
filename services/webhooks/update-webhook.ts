import type { z } from 'zod';
import { webhookUpdate } from '../../schema/contract/webhook-requests.ts';
import { assertCredentialStands } from '../identity/keys/credential-standing.ts';
import type { Principal } from '../../schema/principal.ts';
import { changeEndpoint, requireWebhook } from './endpoint-store.ts';
import { secretPrefixOf } from './endpoint-secret.ts';
import { DELIVERIES_TOPIC } from './delivery-store.ts';
import { parseGraphInput } from '../../platform/graph/parse-input.ts';
import type { Settle } from '../idempotency/exactly-once.ts';
import { assertCallableAddress } from '../../platform/outgoing/callable-address.ts';
import type { ShownWebhook, webhookEffect } from './create-webhook.ts';
import { assertMayHear, heardBy } from './webhook-input.ts';
import type { WebhookServices } from './webhook-services.ts';

/**
 * Changes a subscription; what is left out or null stays. A secret that is replaced signs beside its successor for 24
 * hours. Switching one on that was switched off for its failures starts the count anew.
 * @throws ProblemError `resource_not_found`, `validation_error`, `insufficient_permissions` / `missing_scope`
 */
export async function updateWebhook(
  services: WebhookServices,
  principal: Principal,
  id: string,
  rawInput: unknown,
  settle: Settle<z.output<typeof webhookEffect>>,
): Promise<ShownWebhook> {
  const { database, pubSub, endpointSecrets } = services;
  const { url, events, active, metadata, secret } = parseGraphInput(webhookUpdate, rawInput);
  // An address is not looked up for somebody who may not change anything.
  await database.asTenant(principal, (em) => requireWebhook(em, id));
  if (events !== undefined) assertMayHear(principal, events);
  if (url !== undefined) await assertCallableAddress(services.outgoing, url, '/url', 422);
  return database.asTenant(principal, async (em) => {
    const { id: webhookId } = await requireWebhook(em, id);
    const webhook = await changeEndpoint(em, webhookId, {
      url,
      events: events === undefined ? undefined : { choice: [...new Set(events)], scopes: principal.scopes },
      isActive: active,
      metadata,
      secret:
        secret === undefined
          ? undefined
          : { sealed: endpointSecrets.seal(secret, webhookId), prefix: secretPrefixOf(secret) },
      credentialId: principal.credentialId,
    });
    // Whoever says where it goes hears it, and whoever signs it can speak for it.
    if (url !== undefined || secret !== undefined) assertMayHear(principal, heardBy(webhook));
    await assertCredentialStands(em, principal);
    // What waited for it is due.
    if (active === true) await pubSub.publish(em, DELIVERIES_TOPIC, null);
    await settle(em, { webhookId, secret: secret ?? null });
    return { webhook, secret: secret ?? null };
  });
}
