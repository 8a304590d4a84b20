import fc from 'fast-check';
import type { Principal } from '../../../schema/principal.ts';
import { claimScope, fingerprintOf } from '../../../services/idempotency/idempotency-key.ts';

test('one JSON body has one fingerprint, whatever the order of its members; others have another', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (body) => {
      const reversed = Object.fromEntries(Object.entries(body).toReversed());
      expect(fingerprintOf({ body: reversed })).toBe(fingerprintOf({ body }));
      expect(fingerprintOf({ body: { ...body, more: [body] } })).not.toBe(fingerprintOf({ body }));
    }),
  );
});

test('a number beyond a double has a fingerprint of its own', () => {
  const [large, negative] = [JSON.parse('{"a":[1e999]}'), JSON.parse('{"a":[-1e999]}')] as Record<string, unknown>[];
  expect(new Set([fingerprintOf(large!), fingerprintOf(negative!), fingerprintOf({ a: [null] })]).size).toBe(3);
});

test('the credentials of an account share its keys; agents that act for it have their own', () => {
  const own: Principal = {
    kind: 'agent',
    accountId: 'a',
    agentId: 'x',
    credentialId: 'k1',
    scopes: [],
    environment: 'live',
    proof: 'secret',
    workspace: null,
  };
  const scopeOf = (changes: Partial<Principal>): string => claimScope({ ...own, ...changes }, '192.0.2.1');
  expect(scopeOf({ credentialId: 'k2' })).toBe(scopeOf({}));
  const delegated = { proof: 'delegated' as const, credentialId: 't1' };
  expect(scopeOf({ ...delegated, credentialId: 't2' })).toBe(scopeOf(delegated));
  const inside = { workspace: { id: 'w', role: 'viewer' as const, homeAccountId: 'b' } };
  expect(
    new Set([
      scopeOf({}),
      scopeOf({ environment: 'sandbox' }),
      scopeOf(delegated),
      scopeOf({ ...delegated, agentId: 'y' }),
      scopeOf(inside),
      scopeOf({ ...inside, agentId: 'y' }),
    ]).size,
  ).toBe(6);
});
