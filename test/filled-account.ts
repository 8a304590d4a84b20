import { daysAgo } from './days-ago.ts';
import { Caller } from './house.ts';
import type { IdKind } from './contract/example-requests.ts';
import { furnish, type Furnishing } from './contract/furnish.ts';

/** An account with three of everything that can be listed, for tests over whatever the contract offers. */
export interface FilledAccount {
  readonly caller: Caller;
  /** The public id of an object that has three of whatever lies below it. @throws Error where the account has none */
  idFor(kind: IdKind): string;
}

const ROWS = [
  'user_id,timestamp,channel,cost',
  ...Array.from(
    { length: 5 },
    (_, index) => `u${index},${daysAgo(9 - index)}T10:00:00Z,${index % 2 === 0 ? 'email' : 'search'},1`,
  ),
  ...Array.from({ length: 5 }, (_, index) => `u${index},never ${index},email,1`),
].join('\n');

/** Analyses stay pending where no worker runs. */
export async function fillAccount(root: string, options: Pick<Furnishing, 'without'> = {}): Promise<FilledAccount> {
  const caller = await Caller.register(root);
  const belongings = await furnish(caller, {
    ...options,
    times: 3,
    shop: { rows: ROWS, range: [daysAgo(30), daysAgo(1)] },
    withWorker: false,
  });
  return {
    caller,
    idFor(kind) {
      const id = belongings[kind];
      if (id === undefined)
        throw new Error(`the account has no ${kind}: say how one is made in test/contract/objects.ts`);
      return id;
    },
  };
}
