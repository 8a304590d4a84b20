import { causalCredit, recoveredRevenue } from './pictures/credit-bars.ts';
import { markovChain } from './pictures/markov-chain.ts';
import { placeboLine } from './pictures/placebo-line.ts';
import { r2Lattice } from './pictures/r2-lattice.ts';
import { relativeWeightFlow } from './pictures/relative-weight-flow.ts';
import { ruleWeights } from './pictures/rule-weights.ts';
import { shapleySplit } from './pictures/shapley-split.ts';
import { pathExample, sampleExample } from './worked-examples.ts';

/** Every picture of docs/concepts, by its name. */
export function everyPicture(): Readonly<Record<string, string>> {
  const paths = pathExample();
  const sample = sampleExample();
  return {
    rules: ruleWeights(),
    markov: markovChain(paths),
    shapley: shapleySplit(paths),
    dominance: r2Lattice(paths),
    'relative-weights': relativeWeightFlow(paths),
    prav: placeboLine(sample),
    causal: causalCredit(sample),
    'delta-r': recoveredRevenue(sample),
  };
}
