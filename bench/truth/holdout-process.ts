/** A process of its own that tries suggested holdouts on shops, one by one. Started by holdouts.ts. */
import { holdoutRecord } from './holdout-record.ts';
import { shopNamed } from './simulators/registry.ts';

/** What comes in. */
export interface HoldoutOrder {
  readonly name: string;
  readonly people: number;
}

process.on('message', ({ name, people }: HoldoutOrder) => {
  const simulator = name.slice(0, name.lastIndexOf('_'));
  void holdoutRecord(simulator, shopNamed(name, people)).then((record) => process.send!(record));
});
process.channel?.ref();
