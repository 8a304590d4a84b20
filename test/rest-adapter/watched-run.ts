import { once } from 'node:events';
import { CONTRACT } from '../../rest-adapter/contract.ts';
import { attribution } from './shop.ts';

export interface Progress {
  readonly sequence: number;
  readonly kind: 'PROGRESS' | 'CHANNEL_RESULT' | 'RESULT' | 'ERROR';
}

/** A run that is told what happens, and tells its watchers: history from behind `after`, then what comes. */
export class Run {
  readonly events: Progress[] = [];
  readonly watchers = new Set<() => void>();
  readonly subscriptions: { after: number | undefined; hasReturned: boolean }[] = [];

  push(event: Progress): void {
    this.events.push(event);
    for (const wake of this.watchers) wake();
  }

  watch = ({ after }: { after?: number }): AsyncIterable<Progress> => {
    const subscription = { after, hasReturned: false };
    this.subscriptions.push(subscription);
    const { events, watchers } = this;
    let at = 0;
    const next = async (): Promise<IteratorResult<Progress>> => {
      for (;;) {
        if (subscription.hasReturned) return { done: true, value: undefined };
        const event = events[at];
        if (event !== undefined) {
          at += 1;
          if (event.sequence > (after ?? 0)) return { done: false, value: event };
          continue;
        }
        if (['RESULT', 'ERROR'].includes(events.at(-1)?.kind ?? '')) return { done: true, value: undefined };
        await new Promise<void>((resolve) => {
          watchers.add(resolve);
        });
      }
    };
    const finish = async (): Promise<IteratorResult<Progress>> => {
      subscription.hasReturned = true;
      for (const wake of watchers) wake();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: finish }) };
  };
}

export const progress = (sequence: number, stage = 'loading'): Progress =>
  ({
    sequence,
    kind: 'PROGRESS',
    status: 'PROCESSING',
    stage,
    progress: 0.123_45,
    message: 'two\nlines',
    etaSeconds: 2,
  }) as Progress;
export const channelResult = (sequence: number): Progress =>
  ({
    sequence,
    kind: 'CHANNEL_RESULT',
    model: 'MARKOV',
    channelImpact: (attribution('x', 'COMPLETED') as { channelImpact: unknown }).channelImpact,
  }) as Progress;
export const result = (sequence: number): Progress =>
  ({ sequence, kind: 'RESULT', result: attribution('attr_run', 'COMPLETED') }) as Progress;
export const failure = (sequence: number): Progress =>
  ({
    sequence,
    kind: 'ERROR',
    message: 'There are no conversions in this range.',
    failureCode: 'INSUFFICIENT_DATA',
    result: null,
  }) as Progress;

/** The operation that begins it. */
export const runRow = CONTRACT.find(({ id }) => id === 'runAttribution')!;
/** A request that begins the run. */
export const start = { body: runRow.example.body };

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await once(AbortSignal.timeout(5), 'abort');
}
