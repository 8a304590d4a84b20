import { ProblemError } from '../../schema/problems.ts';
import type { KeySet } from '../../services/trust/signing-key.ts';
import { openDoor } from './door.ts';

const PATH = '/.well-known/jwks.json';
const KEYS: KeySet = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', kid: 'k', use: 'sig', alg: 'EdDSA' }] };

describe('the key set', () => {
  test('is served to anyone, from any page, without a word of trust; a crowd asks the database once', async () => {
    let asked = 0;
    await using door = await openDoor({ keySet: async () => ((asked += 1), KEYS) });
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(`${door.url}${PATH}`)));
    for (const answer of answers) expect(await answer.json()).toEqual(KEYS);
    expect(asked).toBe(1);
    const { status, headers } = await fetch(`${door.url}${PATH}`, { method: 'HEAD' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('application/json');
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect([...headers.keys()].filter((name) => name.startsWith('svc-'))).toEqual([]);
    expect((await fetch(`${door.url}${PATH}`, { method: 'POST' })).status).toBe(405);
  });

  test('says in an outage when to come back, and keeps no failure', async () => {
    let isDown = true;
    await using door = await openDoor({
      keySet: async () => {
        if (isDown)
          throw new ProblemError('service_unavailable', 'The database cannot be reached at the moment', {
            retryAfterS: 2,
          });
        return KEYS;
      },
    });
    const answer = await fetch(`${door.url}${PATH}`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toMatchObject({ error: { type: 'service_unavailable', retry_after: 2 } });
    isDown = false;
    expect((await fetch(`${door.url}${PATH}`)).status).toBe(200);
  });

  test('a failure that is ours says nothing of its cause', async () => {
    await using door = await openDoor({
      keySet: () => Promise.reject(new Error('select kid from trust.signing_keys')),
    });
    const answer = await fetch(`${door.url}${PATH}`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('select');
    expect(door.logs.some(({ err }) => err?.message.includes('select kid') === true)).toBe(true);
  });
});
