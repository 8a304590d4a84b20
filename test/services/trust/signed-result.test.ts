import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { CompactSign } from 'jose';
import { signedMembers } from '../../../schema/attribution-result.ts';
import type { Json } from '../../../schema/rest-shape.ts';
import {
  checkSignedResult,
  resultDigest,
  signClaims,
  type ResultClaims,
  type SignatureCheck,
  type TrustAnchors,
} from '../../../services/trust/signed-result.ts';
import { keySetOf, newSigningKey } from '../../../services/trust/signing-key.ts';
import { exampleAttribution } from '../../../rest-adapter/representations/attribution-result.ts';
import { exampleVerification } from '../../../schema/contract/result-verification.ts';

const made = await newSigningKey('live');
const key = { kid: made.kid, privateKey: createPrivateKey({ key: made.privateKey, format: 'der', type: 'pkcs8' }) };
const anchors: TrustAnchors = { findKey: async (kid) => (kid === made.kid ? { x: made.x, status: 'current' } : null) };
const ID = 'attr_0351EFUQxpVTZ7WdNYMSuY';
const claims: ResultClaims = {
  iss: 'https://api.example',
  sub: ID,
  iat: 1_770_000_000,
  jti: 'j',
  revision: 2,
  delta_r_cents: 5,
  digest: resultDigest(exampleAttribution),
};
const jws = await signClaims(claims, key);
const check = (text: string, result?: Json, trust: TrustAnchors = anchors): Promise<SignatureCheck> =>
  checkSignedResult(text, result, trust);
/** A JWS by the right key with any header. */
const signed = (header: object, payload: object | string = claims) =>
  new CompactSign(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'svc-result+jwt', kid: made.kid, ...header } as never)
    .sign(key.privateKey);
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Every place in a JSON value, members of members included. */
function placesIn(value: unknown, path: readonly string[] = []): string[][] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, member]) => placesIn(member, [...path, name]))
      : [];
  return path.length === 0 ? inner : [[...path], ...inner];
}

function changedAt(value: unknown, [name, ...rest]: readonly string[], change: (old: unknown) => unknown): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  const changed = rest.length === 0 ? change(copy[name!]) : changedAt(copy[name!], rest, change);
  if (changed === undefined) delete copy[name!];
  else copy[name!] = changed;
  return copy;
}

describe('a signed result', () => {
  test('is valid with its result, without it, and without what include= adds', async () => {
    expect(await check(jws)).toMatchObject({
      valid: true,
      reason: null,
      signatureValid: true,
      digestMatch: null,
      statement: {
        type: 'attribution_result',
        id: claims.sub,
        revision: claims.revision,
        issuer: claims.iss,
        signedAt: new Date(claims.iat * 1000),
        digest: claims.digest,
      },
      environment: 'live',
      keyId: made.kid,
      algorithm: 'EdDSA',
    });
    expect(await check(jws, exampleAttribution)).toMatchObject({ valid: true, digestMatch: true });
    expect(await check(jws, signedMembers(exampleAttribution))).toMatchObject({ valid: true, digestMatch: true });
  });

  test('any change to any covered member of the result shows', async () => {
    const covered = signedMembers(exampleAttribution);
    const place = fc.constantFrom(...placesIn(covered));
    await fc.assert(
      fc.asyncProperty(place, fc.jsonValue(), async (path, other) => {
        const changed = changedAt(covered, path, () => other) as Json;
        fc.pre(canonicalize(changed) !== canonicalize(covered));
        expect(await check(jws, changed)).toMatchObject({
          valid: false,
          signatureValid: true,
          digestMatch: false,
          reason: 'digest_mismatch',
        });
      }),
      { numRuns: 300 },
    );
  });

  test('a member that is missing, or that nobody signed, shows', async () => {
    for (const name of Object.keys(signedMembers(exampleAttribution))) {
      const { [name]: _gone, ...rest } = exampleAttribution;
      expect(await check(jws, rest)).toMatchObject({ reason: 'digest_mismatch' });
      // The planted fault: a signer that leaves this member out is found out by the whole result.
      expect(
        await check(await signClaims({ ...claims, digest: resultDigest(rest) }, key), exampleAttribution),
      ).toMatchObject({ reason: 'digest_mismatch' });
    }
    expect(await check(jws, { ...exampleAttribution, note: 'audited' })).toMatchObject({ reason: 'digest_mismatch' });
    const text = JSON.stringify(exampleAttribution);
    for (const odd of [text.replace('{', '{"__proto__":{},'), text.replace('"revision":1', '"revision":1e400')])
      expect(await check(jws, JSON.parse(odd) as Json)).toMatchObject({
        reason: 'digest_mismatch',
        digestMatch: false,
      });
  });

  test('no changed character of the signature goes unseen', async () => {
    const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=%');
    await fc.assert(
      fc.asyncProperty(fc.nat(jws.length - 1), character, async (place, other) => {
        fc.pre(jws[place] !== other);
        const flipped = jws.slice(0, place) + other + jws.slice(place + 1);
        const outcome = await check(flipped, exampleAttribution).catch(
          (error: { readonly type?: string }) => error.type,
        );
        if (typeof outcome === 'object') expect(['bad_signature', 'unknown_key']).toContain(outcome.reason);
        else expect(outcome).toBe('validation_error');
      }),
      { numRuns: 500 },
    );
    // The last character holds bits that mean nothing: a lax decoder would take all sixteen of them.
    const lasts = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].filter(
      (last) => last !== jws.at(-1),
    );
    for (const last of lasts)
      expect(await check(jws.slice(0, -1) + last)).toMatchObject({ valid: false, reason: 'bad_signature' });
  });

  test.each([
    [
      'alg none',
      async () => `${base64url({ alg: 'none', typ: 'svc-result+jwt', kid: made.kid })}.${base64url(claims)}.`,
      'bad_signature',
    ],
    ['the public key as a secret of HS256', hmacWithPublicKey, 'bad_signature'],
    ['a key of the header’s own', withEmbeddedKey, 'bad_signature'],
    ['no name of a key', () => signed({ kid: undefined }), 'unknown_key'],
    ['a critical extension', () => signed({ b64: true, crit: ['b64'] }), 'bad_signature'],
    ['another type', () => signed({ typ: 'svc-receipt+jwt' }), 'malformed_payload'],
    ['no type', () => signed({ typ: undefined }), 'malformed_payload'],
    ['no JSON', () => signed({}, 'hello'), 'malformed_payload'],
    ['a claim missing', () => signed({}, { ...claims, digest: undefined }), 'malformed_payload'],
    ['a claim of another kind', () => signed({}, { ...claims, revision: '2' }), 'malformed_payload'],
  ])('with %s is refused', async (_what, make, reason) => {
    expect(await check(await make(), exampleAttribution)).toMatchObject({ valid: false, reason });
  });

  test('the first reason that holds is named, and nothing unproven is repeated', async () => {
    const strict: TrustAnchors = {
      ...anchors,
      isIssuer: async (issuer) => issuer === claims.iss,
      currentRevision: async () => 3,
    };
    expect(await check(jws, { ...exampleAttribution, revenue: 0 }, strict)).toMatchObject({
      reason: 'digest_mismatch',
    });
    expect(await check(jws, exampleAttribution, strict)).toMatchObject({
      reason: 'superseded_revision',
      digestMatch: true,
    });
    expect(await check(jws, exampleAttribution, { ...strict, currentRevision: async () => 2 })).toMatchObject({
      valid: true,
    });
    expect(await check(jws, exampleAttribution, { ...strict, currentRevision: async () => null })).toMatchObject({
      valid: true,
    });
    expect(await check(jws, exampleAttribution, { ...strict, isIssuer: async () => false })).toMatchObject({
      reason: 'wrong_issuer',
      digestMatch: true,
    });
    expect(await check(jws, undefined, { findKey: async () => ({ x: made.x, status: 'revoked' }) })).toMatchObject({
      valid: false,
      signatureValid: true,
      reason: 'revoked_key',
    });
    expect(await check(jws, undefined, { findKey: async () => ({ x: made.x, status: 'retired' }) })).toMatchObject({
      valid: true,
    });
    const other = (await newSigningKey('live')).x;
    expect(
      await check(jws, exampleAttribution, { findKey: async () => ({ x: other, status: 'revoked' }) }),
    ).toMatchObject({ reason: 'bad_signature', payload: null, statement: null, environment: null, digestMatch: null });
  });

  test.each([
    '',
    'a',
    'a.b',
    '....',
    'abc.def.ghi',
    `${base64url({ typ: 'JWT' })}.e30.`,
    `${jws}.x`,
    ` ${jws}`,
    `${base64url([])}.e30.c2ln`,
  ])('%p is no JWS', async (text) => {
    await expect(check(text)).rejects.toMatchObject({ type: 'validation_error' });
  });
});

describe('the documentation', () => {
  test('shows a signature that says what the example of its check says', async () => {
    // RFC 8037, Appendix A: key and thumbprint.
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    const outcome = await check(String(exampleAttribution['signature']), undefined, {
      findKey: async () => ({ x, status: 'current' }),
    });
    expect(outcome).toMatchObject({
      valid: true,
      keyId: exampleVerification['key_id'],
      payload: exampleVerification['payload'],
    });
    expect(outcome.statement!.signedAt.toISOString()).toBe(exampleVerification['signed_at']);
  });
});

describe('signing keys', () => {
  test('of the sandbox say so in their name; a key set shows no private part', async () => {
    const sandbox = await newSigningKey('sandbox');
    expect(sandbox.kid).toMatch(/^sandbox-[\w-]{43}$/);
    expect(made.kid).toMatch(/^[\w-]{43}$/);
    expect(
      keySetOf([
        { ...sandbox, environment: 'sandbox', status: 'next' },
        { ...made, environment: 'live', status: 'current' },
      ]),
    ).toEqual({
      keys: [
        { kty: 'OKP', crv: 'Ed25519', x: sandbox.x, kid: sandbox.kid, use: 'sig', alg: 'EdDSA', 'svc:status': 'next' },
        { kty: 'OKP', crv: 'Ed25519', x: made.x, kid: made.kid, use: 'sig', alg: 'EdDSA' },
      ],
    });
  });
});

async function hmacWithPublicKey(): Promise<string> {
  const input = `${base64url({ alg: 'HS256', typ: 'svc-result+jwt', kid: made.kid })}.${base64url(claims)}`;
  const pem = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: made.x }, format: 'jwk' }).export({
    format: 'pem',
    type: 'spki',
  });
  return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
}

async function withEmbeddedKey(): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({
      alg: 'EdDSA',
      typ: 'svc-result+jwt',
      kid: made.kid,
      jwk: publicKey.export({ format: 'jwk' }) as never,
    })
    .sign(privateKey);
}
