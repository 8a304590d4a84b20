import { Caller, type House } from './house.ts';

/** A caller with a test key of the account that `live` is. */
export async function withTestKey(house: House, live: Caller): Promise<Caller> {
  const { status, body } = await live.post('/keys', {});
  if (status !== 201) throw new Error(`no keys were given: ${JSON.stringify(body)}`);
  return new Caller(house.root, String(body['test']!['key']));
}
