import fc from 'fast-check';
import type { Principal } from '../../../../schema/principal.ts';
import { grantSandboxWishes, MAX_SANDBOX_DELAY_MS } from '../../../../services/identity/admission/sandbox-wishes.ts';

const principal = (environment: Principal['environment']): Principal => ({
  kind: 'account',
  accountId: '',
  agentId: null,
  credentialId: '',
  scopes: [],
  environment,
  proof: 'secret',
  workspace: null,
});
const anything = {
  delay: fc.option(fc.oneof(fc.string(), fc.integer().map(String)), { nil: undefined }),
  force: fc.option(fc.oneof(fc.string(), fc.constantFrom('internal_error', 'rate_limit_exceeded')), { nil: undefined }),
};

describe('wishes of the sandbox', () => {
  test('a live key and a stranger get nothing, whatever they ask', () => {
    fc.assert(
      fc.property(
        fc.record(anything),
        (wishes) =>
          grantSandboxWishes(principal('live'), wishes) === undefined && grantSandboxWishes(null, wishes) === undefined,
      ),
    );
  });

  test('a test key gets a delay within bounds, or is told what is wrong', () => {
    fc.assert(
      fc.property(fc.record(anything), (wishes) => {
        try {
          const delayMs = grantSandboxWishes(principal('sandbox'), wishes);
          expect(wishes.force).toBeUndefined();
          if (wishes.delay === undefined) expect(delayMs).toBeUndefined();
          else expect(delayMs! >= 0 && delayMs! <= MAX_SANDBOX_DELAY_MS && delayMs === Number(wishes.delay)).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({
            problem: { type: expect.stringMatching(/^(?:validation_error|internal_error|rate_limit_exceeded)$/) },
          });
        }
      }),
    );
  });
});
