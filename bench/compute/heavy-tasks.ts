import { failure } from '../../compute/outcome.ts';
import { DAY_S } from '../../compute/run-options.ts';
import { runTask, type TaskInput, type TaskName, type TaskOutcome } from '../../compute/tasks.ts';
import { syntheticEvents, syntheticPaths, wholeRange } from './synthetic-tables.ts';

type HeavyTask = readonly [label: string, name: TaskName, input: TaskInput<TaskName>];

const PER_EVENT = 1 / 20;

/** Every task on so many events and channels, Markov of these orders. */
export function heavyTasks(eventCount: number, channelCount: number, orders: readonly number[]): readonly HeavyTask[] {
  const events = syntheticEvents(eventCount, channelCount, 1);
  const paths = syntheticPaths(Math.floor(eventCount * PER_EVENT), channelCount, 2);
  const options = wholeRange(events);
  const { rangeStartS, rangeEndS, lookbackS } = options;
  const days = Math.ceil((rangeEndS - rangeStartS) / DAY_S);
  const periods = { count: days, ofDay: Uint16Array.from({ length: days }, (_, day) => day) };
  const campaigns = {
    names: Array.from({ length: 100 }, (_, each) => `campaign-${each}`),
    slot: new Uint16Array(events.timeS.length).map((_, event) => event % 101),
  };
  const members = {
    markov: answered('markov', { paths, order: 1 }),
    shapley: answered('shapley', { paths }),
    dominance:
      channelCount > 100 ? failure('too_many_channels', 'left out') : answered('dominance', { paths, seed: 1 }),
    rwa: answered('rwa', { paths }),
    prav: answered('prav', { events, options }),
  };
  const comparison = required(answered('comparison', { events, options }));
  const totals = {
    conversions: comparison.rules.last.conversions.reduce((sum, each) => sum + each, 0),
    revenue: comparison.rules.last.value.reduce((sum, each) => sum + each, 0),
  };
  const causal: TaskInput<'causal'> = {
    channels: events.channels,
    isBaseline: options.isBaseline,
    confidenceLevel: 0.95,
    totals,
    members,
    comparison,
    spend: new Float64Array(events.channels.length),
    isOwnedMedia: new Uint8Array(events.channels.length),
    experiments: [{ channels: [5], incrementalRevenue: totals.revenue / 50, standardError: totals.revenue / 500 }],
  };
  const evidence: TaskInput<'evidence'> = {
    paths,
    events,
    rangeStartS: (rangeStartS + rangeEndS) / 2,
    rangeEndS,
    lookbackS,
    preceding: 'in_events',
    seed: 1,
  };
  const outcomes = { ...members, causal: answered('causal', causal) };
  const witness = {
    journeys: required(answered('evidence', evidence)).witness,
    touches: new Map<string, number>(),
    ...totals,
    baseline: new Set(events.channels.slice(0, 2)),
  };
  const task = <Name extends TaskName>(label: string, name: Name, input: TaskInput<Name>): HeavyTask => [
    `${label}, ${channelCount} channels`,
    name,
    input as TaskInput<TaskName>,
  ];
  return [
    ...orders.map((order) => task(`Markov ${order}`, 'markov', { paths, order })),
    task('Shapley', 'shapley', { paths }),
    task('dominance', 'dominance', { paths, seed: 1 }),
    task('relative weights', 'rwa', { paths }),
    task('PRAV', 'prav', { events, options, segments: [periods, { of: campaigns.slot, count: 101 }] }),
    task('comparison on events', 'comparison', { events, options }),
    task('comparison on paths', 'comparison', { paths, unattributed: { conversions: 0, value: 0 } }),
    task('breakdown', 'breakdown', { events, options, periods, campaigns }),
    task('causal', 'causal', causal),
    task('evidence', 'evidence', evidence),
    task('scrutiny', 'scrutiny', { model: 'causal', outcomes, witness, seed: 1 }),
    task('sensitivity', 'sensitivity', {
      paths,
      events,
      options,
      model: 'causal',
      weights: outcomes.causal.ok ? outcomes.causal.weights : null,
      seed: 1,
    }),
  ];
}

function answered<Name extends TaskName>(name: Name, input: TaskInput<Name>): TaskOutcome<Name> {
  return runTask(name, input, () => undefined);
}

function required<Outcome extends { readonly ok: boolean }>(outcome: Outcome): Extract<Outcome, { readonly ok: true }> {
  if (outcome.ok) return outcome as Extract<Outcome, { readonly ok: true }>;
  throw new Error('a task that others build on gave no answer');
}
