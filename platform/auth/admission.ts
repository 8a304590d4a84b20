import type { Principal } from './principal.ts';

/** What every door asks before it lets a request in. Filled by the PostgreSQL-backed admission, shared by all doors. */
export interface Admission {
  /**
   * Resolves `Authorization: Bearer <key>`.
   * @throws ProblemError `invalid_api_key` (missing, malformed, unknown) or `expired_api_key` (revoked, expired).
   */
  authenticate(authorization: string | undefined): Promise<Principal>;
  /**
   * Consumes the nonce of a state-changing request; it is remembered for 24 h per credential
   * (per client address where `principal` is null).
   * @throws ProblemError `missing_nonce`, `invalid_request` (bad shape) or `duplicate_nonce`.
   */
  consumeNonce(principal: Principal | null, clientAddress: string, nonce: string | undefined): Promise<void>;
}
