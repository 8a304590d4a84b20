import type { Claims, KeyedRequest } from '../services/idempotency/claims.ts';
import { idempotencyConflict, idempotencyInProgress } from '../services/idempotency/idempotency-key.ts';

/** Claims of a door that has no database behind it: one process, no leases, nobody waits. */
export function memoryClaims(): Claims & { readonly log: string[] } {
  const claims = new Map<string, { readonly fingerprint: string; answer?: string }>();
  const log: string[] = [];
  return {
    log,
    async take({ scope, key, fingerprint }: KeyedRequest, schema) {
      log.push('take');
      const id = JSON.stringify([scope, key]);
      const known = claims.get(id);
      if (known !== undefined && known.fingerprint !== fingerprint) throw idempotencyConflict();
      if (known !== undefined && known.answer === undefined) throw idempotencyInProgress();
      if (known?.answer !== undefined) return { answer: schema.parse(JSON.parse(known.answer)) };
      claims.set(id, { fingerprint });
      return {
        held: {
          claim: {
            id,
            attemptId: crypto.randomUUID(),
            sealKey: 'a seal key of the tests, long enough for a vault',
            hasEffect: false,
          },
          async keep(answer) {
            log.push('keep');
            claims.set(id, { fingerprint, answer: JSON.stringify(answer) });
            return null;
          },
          async giveUp() {
            log.push('give up');
            claims.delete(id);
          },
        },
      };
    },
  };
}
