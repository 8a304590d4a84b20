import { CONTEXT, openAuthority, type Authority } from './authority.ts';

let authority: Authority;
beforeAll(async () => {
  authority = await openAuthority();
});
afterAll(() => authority?.close());

test('buying tokens spends nothing of the agent’s own windows, and counts as a use of its key', async () => {
  const { clientId, clientSecret, accountId } = await authority.registerClient();
  for (let time = 0; time < 2; time += 1)
    await authority.oauth.tokens.exchange({ grantType: 'client_credentials', clientId, clientSecret }, CONTEXT);
  const { rows } = await authority.owner.query(
    `select (select count(*)::int from auth.rate_windows where subject like $1 || ':%') as windows,
       (select count(*)::int from auth.api_keys where account_id = $1::uuid and last_used_at is not null) as used`,
    [accountId],
  );
  expect(rows).toEqual([{ windows: 0, used: 1 }]);
});
