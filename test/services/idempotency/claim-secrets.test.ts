import { createHmac, hkdfSync } from 'node:crypto';
import * as fc from 'fast-check';
import { claimSecrets, opened, sealed } from '../../../services/idempotency/claim-secrets.ts';
import { SealBrokenError } from '../../../services/trust/key-vault.ts';

const secret = 'a secret of the installation, for the tests of claims';
const text = fc.string({ maxLength: 255 });

test('ids and keys are derived as RFC 5869 says, so that they stay what they were', () => {
  const hkdf = (info: string) => Buffer.from(hkdfSync('sha256', secret, '', info, 32));
  fc.assert(
    fc.property(text, text, (scope, key) => {
      const named = JSON.stringify([scope, key]);
      expect(claimSecrets(secret)(scope, key)).toEqual({
        id: createHmac('sha256', hkdf('liftgraph idempotency lookup')).update(named).digest('base64url'),
        sealKey: hkdf(`liftgraph idempotency seal ${named}`).toString('base64url'),
      });
    }),
  );
});

test('what is sealed opens for the same claim, in another process too, and as the same part alone', () => {
  const of = (key: string) => claimSecrets(secret)('account a', key);
  const claim = of('order 1');
  const stored = sealed(claim, 'answer', { text: 'secret' });
  expect(stored.toString('latin1')).not.toContain('secret');
  expect(opened(claim, 'answer', stored)).toEqual({ text: 'secret' });
  expect(opened(of('order 1'), 'answer', stored)).toEqual({ text: 'secret' });
  expect(() => opened(claim, 'effect', stored)).toThrow(SealBrokenError);
  expect(() => opened(of('order 2'), 'answer', stored)).toThrow(SealBrokenError);
});
