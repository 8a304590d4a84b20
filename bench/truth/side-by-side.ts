import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/**
 * Has shops looked at by as many processes as there are cores, each of which takes an order as a message and answers
 * with a record. Records in the order of the orders; tells how far it is.
 */
export async function sideBySide<Order extends { readonly name: string }, Found>(
  program: URL,
  orders: readonly Order[],
): Promise<Found[]> {
  const waiting = [...orders.keys()];
  const found: Found[] = [];
  let done = 0;
  const work = async (): Promise<void> => {
    const child = fork(fileURLToPath(program));
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a process that looks at shops ended (${String(code ?? signal)})`);
    });
    ended.catch(() => undefined);
    try {
      for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
        child.send(orders[place]!);
        [found[place]] = (await Promise.race([once(child, 'message'), ended])) as [Found];
        console.error(`${String(++done).padStart(4)}/${orders.length} ${orders[place]!.name}`);
      }
    } finally {
      child.kill();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), orders.length) }, work));
  return found;
}
