import { ProblemError } from '../../../../schema/problems.ts';
import { CALLBACK, CONTEXT, openAuthority, type Authority } from './authority.ts';

let authority: Authority;
beforeAll(async () => {
  authority = await openAuthority();
});
afterAll(() => authority?.close());

test.each([
  ['another verifier', { codeVerifier: 'v'.repeat(43) }, 'wrong_code_verifier'],
  ['another redirect URI', { redirectUri: `${CALLBACK}/` }, 'wrong_redirect_uri'],
])('%s uses a code up: nobody tries twice', async (_what, changes, reason) => {
  const client = await authority.registerClient();
  const owner = await authority.issueKey('svc_live_sk');
  const code = await authority.authorise(client, owner.key);
  const { clientId, clientSecret } = client;
  const request = { grantType: 'authorization_code', clientId, clientSecret, redirectUri: CALLBACK, ...code } as const;
  const refusal = (given: object): Promise<unknown> =>
    authority.oauth.tokens.exchange({ ...request, ...given }, CONTEXT).then(
      () => 'tokens',
      (error: unknown) => (error instanceof ProblemError ? error.type : error),
    );
  expect(await refusal(changes)).toBe('invalid_grant');
  expect(await authority.auditOf(owner.accountId)).toEqual([`auth.failed warning ${reason}`]);
  expect(await refusal({})).toBe('invalid_grant');
  expect(await refusal({})).toBe('invalid_grant');
});
