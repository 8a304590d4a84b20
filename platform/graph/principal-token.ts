import { SignJWT, jwtVerify } from 'jose';
import { z } from 'zod';
import { ProblemError } from '../../schema/problems.ts';
import { ENVIRONMENTS } from '../../schema/value-lists.ts';
import { ROLES, SCOPES, type RequestContext } from '../../schema/principal.ts';

/** HTTP header and `extensions` member that carry the token from the gateway to a subgraph. */
export const PRINCIPAL_HEADER = 'x-liftgraph-principal';

/** Says who calls, from the gateway to one subgraph: a JWT (RFC 7519), HS256, good for thirty seconds. */
export interface PrincipalTokens {
  sign(context: RequestContext, subgraph: string): Promise<string>;
  /**
   * The context that the gateway signed.
   * @throws ProblemError `invalid_api_key` for anything else
   */
  verify(token: unknown, subgraph: string): Promise<RequestContext>;
}

const LIFETIME_S = 30;
const CLOCK_TOLERANCE_S = 5;
const ISSUER = 'liftgraph-gateway';

const contextSchema = z.object({
  requestId: z.string(),
  apiVersion: z.string(),
  callerVersion: z.string().exactOptional(),
  principal: z
    .object({
      kind: z.enum(['agent', 'account']),
      accountId: z.string(),
      agentId: z.string().nullable(),
      credentialId: z.string(),
      scopes: z.array(z.enum(SCOPES)),
      environment: z.enum(ENVIRONMENTS),
      proof: z.enum(['secret', 'delegated']),
      workspace: z.object({ id: z.string(), role: z.enum(ROLES), homeAccountId: z.string() }).nullable(),
    })
    .nullable(),
  origin: z.object({ clientAddress: z.string(), userAgent: z.string().nullable() }).exactOptional(),
  idempotency: z
    .object({ id: z.string(), attemptId: z.string(), sealKey: z.string(), hasEffect: z.boolean() })
    .exactOptional(),
  sandboxDelayMs: z.int().min(0).exactOptional(),
});

/** @param secret at least 32 characters, the same in the gateway and all subgraphs */
export function principalTokens(secret: string, clock: () => Date): PrincipalTokens {
  const key = new TextEncoder().encode(secret);
  return {
    sign({ requestId, apiVersion, callerVersion, principal, origin, idempotency, sandboxDelayMs }, subgraph) {
      const nowS = Math.floor(clock().getTime() / 1000);
      return new SignJWT({
        context: { requestId, apiVersion, callerVersion, principal, origin, idempotency, sandboxDelayMs },
      })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(ISSUER)
        .setAudience(subgraph)
        .setIssuedAt(nowS)
        .setExpirationTime(nowS + LIFETIME_S)
        .sign(key);
    },
    async verify(token, subgraph) {
      if (typeof token !== 'string') throw new ProblemError('invalid_api_key', 'Subgraphs answer to the gateway only.');
      try {
        const { payload } = await jwtVerify(token, key, {
          issuer: ISSUER,
          audience: subgraph,
          algorithms: ['HS256'],
          requiredClaims: ['exp'],
          maxTokenAge: LIFETIME_S,
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: clock(),
        });
        return contextSchema.parse(payload['context']);
      } catch (error) {
        throw new ProblemError('invalid_api_key', 'Subgraphs answer to the gateway only.', { cause: error });
      }
    },
  };
}
