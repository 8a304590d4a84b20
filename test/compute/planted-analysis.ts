import { journeysAsPaths } from '../../compute/evidence/journeys.ts';
import type { EventTable } from '../../compute/journey-tables.ts';
import type { RunOptions } from '../../compute/run-options.ts';
import type { CausalInput } from '../../compute/models/causal/causal-input.ts';
import type { CausalResult } from '../../compute/models/causal/causal-result.ts';
import { runTask } from '../../compute/tasks.ts';
import { plantedShop } from './planted-shop.ts';
import type { Plants } from './planted-shop.ts';
import { eventTable, wholeRange } from './reference-data.ts';
import { figures } from './run-in-thread.ts';

const UNPAID: ReadonlySet<string> = new Set(['direct', 'organic_search', 'magazine']);

/** The causal model with its tests on a shop into which something was planted, and what it was asked with. */
export function analysePlanted(
  people: number,
  plants: Plants,
): { result: CausalResult; input: CausalInput; events: EventTable; options: RunOptions } {
  const events = eventTable(plantedShop(people, plants));
  const isBaseline = Uint8Array.from(events.channels, (channel) => Number(UNPAID.has(channel)));
  const options = { ...wholeRange(events), isBaseline };
  const { rangeStartS: startS, rangeEndS: endS, lookbackS } = options;
  const paths = journeysAsPaths(events, { startS, endS, lookbackS });
  const prav = figures('prav', { events, options });
  const input = {
    channels: events.channels,
    isBaseline,
    confidenceLevel: 0.95,
    totals: { conversions: prav.rangeConversions, revenue: prav.rangeRevenue },
    members: {
      markov: figures('markov', { paths, order: 1 }),
      shapley: figures('shapley', { paths }),
      dominance: figures('dominance', { paths }),
      rwa: figures('rwa', { paths }),
      prav,
    },
    comparison: figures('comparison', { events, options }),
    spend: new Float64Array(events.channels.length),
    isOwnedMedia: new Uint8Array(events.channels.length),
    experiments: [],
    measurements: runTask('credit_measurement', { events, options }, () => undefined),
  };
  return { result: figures('causal', input), input, events, options };
}
