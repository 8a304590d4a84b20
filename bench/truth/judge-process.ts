/** A process of its own that judges shops one by one: a name comes in, its record goes out. Started by judge.ts. */
import { recordOfShop, type ShopRecord } from './shop-record.ts';
import { shopNamed } from './simulators/registry.ts';

/** What comes in. */
export interface ShopOrder {
  readonly name: string;
  readonly people: number;
  readonly isSpendShuffled: boolean;
}

process.on('message', ({ name, people, isSpendShuffled }: ShopOrder) => {
  const simulator = name.slice(0, name.lastIndexOf('_'));
  void recordOfShop(simulator, shopNamed(name, people), isSpendShuffled).then((record) =>
    process.send!(record satisfies ShopRecord),
  );
});
process.channel?.ref();
