import { uuidFromPublicId, type Uuid } from '../../../platform/identifiers.ts';

/** A registered agent as OAuth sees it. */
export interface OauthClient {
  readonly agentId: Uuid;
  readonly accountId: Uuid;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** It cannot keep a secret: PKCE alone protects its codes. */
  readonly isPublic: boolean;
}

/** Finds an active agent; null where there is none. The registry answers, and processes/ introduces it. */
export type FindOauthClient = (agentId: Uuid) => Promise<OauthClient | null>;

/** Contract §4: `^agent_[a-zA-Z0-9]{6,}$`, with a limit that no id of ours reaches. */
export const CLIENT_ID_PATTERN = /^agent_[a-zA-Z0-9]{6,64}$/;

/** The agent that a client id names; undefined for an id that no agent can have. */
export function agentOfClientId(clientId: string): Uuid | undefined {
  return uuidFromPublicId('agent', clientId);
}
