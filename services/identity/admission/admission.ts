import type { ProblemError } from '../../../schema/problems.ts';
import type { Principal, RequestOrigin } from '../../../schema/principal.ts';
import type { RateWindow, StrangerClass } from '../limits/rate-limits.ts';

/** What a door knows of a request before it lets it in. */
export interface Arrival {
  readonly requestId: string;
  readonly origin: RequestOrigin;
  /** Header `Authorization`, or what stands for it on a WebSocket. */
  readonly authorization: string | undefined;
  /** Whether the sandbox's host was addressed, which takes test keys only. */
  readonly onSandboxHost: boolean;
}

/** The key or token that was shown. */
export interface ShownCredential {
  /** UUID of the key or token itself. */
  readonly id: string;
  /** UUID of the key that it is, or that it was given for: what ends the key ends both. */
  readonly keyId: string;
  /** UUID of the account. */
  readonly accountId: string;
}

/** A request that may go on. */
export interface Admitted {
  readonly principal: Principal;
  /** Version that the key or token asks for where the request does not say. */
  readonly pinnedVersion: string | null;
  /** Where its rate windows stand, this call counted. */
  readonly windows: readonly RateWindow[];
  readonly credential: ShownCredential;
}

/** What every door asks before it lets a request in. Filled by the PostgreSQL-backed admission, shared by all doors. */
export interface Admission {
  /**
   * To be called for every request, before anything is done for it. Where many wait already, callers are let in who
   * have next to nothing under way: the crowds of a few shut nobody else out.
   * @param authorization header `Authorization`, which names the caller
   * @throws ProblemError `service_unavailable`, code `overloaded`, where too many wait to be let in already
   */
  refuseWhenOverloaded(authorization: string | undefined): void;
  /** Counts a request as under way for its caller until the returned function is called. */
  arrive(authorization: string | undefined): () => void;
  /**
   * Resolves `Authorization: Bearer <key or access token>`, checks the address against the key's allowlist, and counts
   * the call.
   * @throws ProblemError `invalid_api_key` (missing, malformed, unknown, on the wrong host), `expired_api_key`
   * (revoked,
   *   expired), `ip_not_allowed`; RateLimitError
   */
  admit(arrival: Arrival): Promise<Admitted>;
  /**
   * Whose key or token is shown, where the call is counted by other means: a key that buys a token at `/oauth/token` is
   * counted with its client there, and spends nothing of its agent's windows.
   * @throws ProblemError as `admit`; never RateLimitError
   */
  authenticate(arrival: Arrival): Promise<Principal>;
  /**
   * An admitted caller as it acts in a workspace, which costs another question.
   * @param workspaceId public id, from the header `SVC-Workspace` or what stands for it
   * @throws ProblemError `resource_not_found` for an unknown workspace and for one that the caller does not belong to
   * alike
   */
  enterWorkspace(principal: Principal, workspaceId: string): Promise<Principal>;
  /**
   * Counts a call of somebody without a key.
   * @param subject what the class is counted by, such as the client's address
   * @throws RateLimitError
   */
  countStranger(
    rateClass: StrangerClass,
    subject: string,
    arrival: Pick<Arrival, 'requestId' | 'origin'>,
  ): Promise<readonly RateWindow[]>;
  /**
   * Consumes the nonce of a state-changing request; it is remembered for 24 h per credential
   * (per client address where `principal` is null).
   * @throws ProblemError `missing_nonce`, `invalid_request` (bad shape) or `duplicate_nonce`.
   */
  consumeNonce(principal: Principal | null, clientAddress: string, nonce: string | undefined): Promise<void>;
  /**
   * Calls `ended` once, within two seconds of the credential's revocation or expiry. The returned function cancels the
   * watch.
   */
  whenEnded(credential: ShownCredential, ended: () => void): () => void;
  /**
   * Counts a stream that the credential opens in this process, until the returned function is called.
   * @throws ProblemError `rate_limit_exceeded` (`concurrency`) when its key, its account or everybody together has as
   * many as may
   */
  openStream(credential: ShownCredential): () => void;
  /**
   * Tells the audit log, once a minute, that a caller asked for more at a time than there may be, wherever that was
   * refused; nothing of other problems.
   */
  noticeRefusal(
    problem: ProblemError,
    admitted: Pick<Admitted, 'principal' | 'credential'>,
    arrival: Pick<Arrival, 'requestId' | 'origin'>,
  ): Promise<void>;
}
