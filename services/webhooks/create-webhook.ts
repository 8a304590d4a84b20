import { z } from 'zod';
import { newWebhook } from '../../schema/contract/webhook-requests.ts';
import { assertCredentialStands } from '../identity/keys/credential-standing.ts';
import type { Principal, RequestContext } from '../../schema/principal.ts';
import { insertEndpoint } from './endpoint-store.ts';
import { secretPrefixOf } from './endpoint-secret.ts';
import type { Endpoint } from './endpoint.ts';
import { newWebhookSecret } from './signature.ts';
import { parseGraphInput } from '../../platform/graph/parse-input.ts';
import type { Settle } from '../idempotency/exactly-once.ts';
import { newUuid, uuid } from '../../platform/identifiers.ts';
import { assertCallableAddress } from '../../platform/outgoing/callable-address.ts';
import { assertMayHear } from './webhook-input.ts';
import type { WebhookServices } from './webhook-services.ts';

/** The contract answers every fault of this body with 400. */
const BAD_BODY = 400;

/** The subscription as a retry tells of it again. */
export const webhookEffect = z.object({ webhookId: uuid, secret: z.string().nullable() });

export interface ShownWebhook {
  readonly webhook: Endpoint;
  /** Null unless it was set just now: it is shown once. */
  readonly secret: string | null;
}

/**
 * Subscribes an address to events of the caller's account, or of the workspace that it acts in.
 * @throws ProblemError `validation_error` with status 400; `insufficient_permissions` / `missing_scope`
 */
export async function createWebhook(
  services: WebhookServices,
  context: RequestContext,
  principal: Principal,
  rawInput: unknown,
  settle: Settle<z.output<typeof webhookEffect>>,
): Promise<ShownWebhook> {
  const input = parseGraphInput(newWebhook, rawInput, BAD_BODY);
  assertMayHear(principal, input.events);
  await assertCallableAddress(services.outgoing, input.url, '/url', BAD_BODY);
  const id = newUuid(services.clock().getTime());
  const secret = input.secret ?? newWebhookSecret();
  return services.database.asTenant(principal, async (em) => {
    const webhook = await insertEndpoint(em, {
      id,
      kind: 'webhook',
      accountId: principal.accountId,
      environment: principal.environment,
      workspaceId: principal.workspace?.id ?? null,
      url: input.url,
      events: [...new Set(input.events)],
      scopes: principal.scopes,
      metadata: input.metadata ?? {},
      sealedSecret: services.endpointSecrets.seal(secret, id),
      secretPrefix: secretPrefixOf(secret),
      apiVersion: context.callerVersion ?? context.apiVersion,
      credentialId: principal.credentialId,
    });
    // Looking the address up may have taken long.
    await assertCredentialStands(em, principal);
    await settle(em, { webhookId: id, secret });
    return { webhook, secret };
  });
}
