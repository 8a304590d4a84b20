import { candidateHistories } from './candidate-histories/simulator.ts';
import { consideration } from './consideration/simulator.ts';
import { consumerStates } from './consumer-states/simulator.ts';
import { discreteChoice } from './discrete-choice/simulator.ts';
import { replenishment } from './replenishment/simulator.ts';
import { selfExciting } from './self-exciting/simulator.ts';
import { semiSynthetic } from './semi-synthetic/simulator.ts';
import type { SimulatedShop, Simulator } from './simulator.ts';

/** Everything that judges the estimator. */
export const SIMULATORS: readonly Simulator[] = [
  consumerStates,
  discreteChoice,
  semiSynthetic,
  selfExciting,
  consideration,
  candidateHistories,
  replenishment,
];

/** A shop by its name, `<simulator>_<index>`. @throws Error where there is none */
export function shopNamed(name: string, people: number): SimulatedShop {
  const [, simulatorName, index] = /^(.+)_(\d+)$/.exec(name) ?? [];
  const simulator = SIMULATORS.find((each) => each.name === simulatorName);
  if (simulator === undefined || Number(index) < 1 || Number(index) > simulator.shops)
    throw new Error(`There is no shop ${name}.`);
  return simulator.shop(Number(index), people);
}
