import { createSecretKey, randomBytes } from 'node:crypto';
import {
  apiKeyKind,
  apiKeyLookup,
  generateApiKey,
  matchesApiKey,
  sealApiKey,
} from '../../../../services/identity/keys/api-key.ts';

const pepper = createSecretKey(randomBytes(32));

describe('API keys', () => {
  test('have the form of the contract', () => {
    expect(generateApiKey('svc_agent_sk')).toMatch(/^svc_agent_sk_[A-Za-z0-9]{24}$/);
    expect(apiKeyKind(generateApiKey('svc_live_sk'))).toBe('svc_live_sk');
  });

  test.each([
    '',
    'svc_agent_sk_',
    `svc_agent_sk_${'a'.repeat(23)}`,
    `svc_agent_sk_${'a'.repeat(25)}`,
    `svc_agent_pk_${'a'.repeat(24)}`,
    ` svc_agent_sk_${'a'.repeat(24)}`,
  ])('%p is no key', (text) => {
    expect(apiKeyKind(text)).toBeUndefined();
  });

  test('what is stored matches its key alone, and holds no part of it', () => {
    const key = generateApiKey('svc_agent_sk');
    const stored = sealApiKey(pepper, key);
    expect(matchesApiKey(stored, key)).toBe(true);
    expect(matchesApiKey(stored, generateApiKey('svc_agent_sk'))).toBe(false);
    expect(matchesApiKey(undefined, key)).toBe(false);
    const everything = Buffer.concat([stored.lookup, stored.salt, stored.hash]);
    expect(everything.includes(key.slice('svc_agent_sk_'.length, 20))).toBe(false);
  });

  test('two seals of one key differ, its lookup does not, and depends on the pepper', () => {
    const key = generateApiKey('svc_test_sk');
    const [first, second] = [sealApiKey(pepper, key), sealApiKey(pepper, key)];
    expect(first.hash.equals(second.hash)).toBe(false);
    expect(first.lookup.equals(second.lookup)).toBe(true);
    expect(apiKeyLookup(createSecretKey(randomBytes(32)), key).equals(first.lookup)).toBe(false);
  });

  test('every character is drawn, none more often than chance allows', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 4000; i += 1)
      for (const character of generateApiKey('svc_live_sk').slice(-24))
        counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    const expected = (4000 * 24) / 62;
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: beyond 130 lies less than one run in a million.
    expect(chiSquare).toBeLessThan(130);
  });
});
