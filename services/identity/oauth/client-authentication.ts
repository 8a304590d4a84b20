import { ProblemError } from '../../../schema/problems.ts';
import { recordAuditEvent } from '../../audit/audit-event.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Admission } from '../admission/admission.ts';
import { apiKeyKind } from '../keys/api-key.ts';
import type { Principal, RequestContext, RequestOrigin } from '../../../schema/principal.ts';
import { agentOfClientId, type FindOauthClient, type OauthClient } from './oauth-client.ts';

/** Of requests that no door let in. */
const NOWHERE: RequestOrigin = { clientAddress: 'unknown', userAgent: null };
/** Failures in an hour that make an attack (decision table of the contract, audit). */
const ALARM_AT = 10;

/**
 * Finds out whether a client is who it says (RFC 6749 §2.3): its id is an agent's, its secret one of that agent's keys.
 */
export class ClientAuthentication {
  readonly #database: Database;
  readonly #admission: Admission;
  readonly #findClient: FindOauthClient;

  constructor(database: Database, admission: Admission, findClient: FindOauthClient) {
    this.#database = database;
    this.#admission = admission;
    this.#findClient = findClient;
  }

  /** The client that an id names. @throws ProblemError `invalid_client` */
  async find(clientId: string): Promise<OauthClient> {
    const agentId = agentOfClientId(clientId);
    const client = agentId === undefined ? null : await this.#findClient(agentId);
    if (client === null) throw wrongClient();
    return client;
  }

  /**
   * Authenticates a client by its secret, as every door authenticates that key; failures are told to the audit log of
   * the agent whose name was used, one a minute and one more at the alarm.
   * @returns the principal of the key
   * @throws ProblemError `invalid_client`; whatever else the key is refused for (`ip_not_allowed`)
   */
  async authenticate(clientId: string, clientSecret: string, context: RequestContext): Promise<Principal> {
    const principal =
      apiKeyKind(clientSecret) === 'svc_agent_sk' ? await this.#principalOf(clientSecret, context) : null;
    if (principal !== null && principal.agentId !== null && principal.agentId === agentOfClientId(clientId))
      return principal;
    await this.#tellFailure(clientId, context);
    throw wrongClient();
  }

  async #principalOf(clientSecret: string, context: RequestContext): Promise<Principal | null> {
    try {
      // Whichever host was asked: admission judges the token again where it is used.
      return await this.#admission.authenticate({
        requestId: context.requestId,
        origin: context.origin ?? NOWHERE,
        authorization: `Bearer ${clientSecret}`,
        onSandboxHost: false,
      });
    } catch (error) {
      if (error instanceof ProblemError && (error.type === 'invalid_api_key' || error.type === 'expired_api_key'))
        return null;
      throw error;
    }
  }

  async #tellFailure(clientId: string, context: RequestContext): Promise<void> {
    const agentId = agentOfClientId(clientId);
    const client = agentId === undefined ? null : await this.#findClient(agentId);
    // Of unknown clients, the failure of the key was told by admission.
    if (client === null) return;
    const [count] = await this.#database.ask<{ in_hour: number; untold: number; is_news: boolean }>({
      name: 'auth.count_failure',
      text: 'select * from auth.count_failure($1, $2)',
      values: [`client:${client.agentId}`, ALARM_AT],
    });
    if (!count!.is_news) return;
    await this.#database.asNobody((em) =>
      recordAuditEvent(em, context, {
        accountId: client.accountId,
        type: 'auth.failed',
        severity: count!.in_hour >= ALARM_AT ? 'critical' : 'warning',
        actor: { type: 'anonymous', id: null },
        target: { type: 'agent', id: clientId },
        outcome: 'failure',
        environment: 'live',
        details: { reason: 'invalid_client', attempts: count!.untold, attempts_this_hour: count!.in_hour },
      }),
    );
  }
}

function wrongClient(): ProblemError {
  return new ProblemError(
    'invalid_client',
    'The client is unknown, or the secret is not its own. client_id is the agent id, client_secret its key: ' +
      'svc_agent_sk_ and 24 letters or digits.',
    { param: '/client_id' },
  );
}
