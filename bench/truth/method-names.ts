import type { Method } from './estimate-world.ts';

/** As the report writes them. */
export const METHOD_NAMES: Readonly<Record<Method, string>> = {
  last_click: 'last click',
  first_click: 'first click',
  linear: 'linear',
  markov_1: 'Markov 1',
  markov_2: 'Markov 2',
  shapley: 'Shapley',
  dominance: 'dominance',
  rwa: 'relative weights',
  prav: 'PRAV',
  causal: 'causal',
};
