import { Caller, type House } from './house.ts';

/** A caller with a test key of the agent that `live` is. */
export async function withTestKey(house: House, live: Caller): Promise<Caller> {
  const [account] = await house.keys.find(live.key!);
  const { accountId, agentId } = account!;
  return new Caller(house.root, await house.ground.database.asTenant(accountId, (em) => house.keys.issue(em, { accountId, agentId, kind: 'svc_test_sk' })));
}
