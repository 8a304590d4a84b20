import { unservedRows } from '../../processes/unserved-rows.ts';
import { experiments } from '../../schema/contract/experiments.ts';

const SERVED = Object.values(experiments.operations).map(({ method, path }) => ({ method, path }));
const GRAPH = `
  type Query { experiment: Int experiments: Int }
  type Mutation { createExperiment: Int deleteExperiment: Int }`;

describe('rows of the contract that a door lacks', () => {
  test('none, where both doors serve everything', () => expect(unservedRows([experiments], GRAPH, SERVED)).toEqual([]));

  test('are told with the place that lacks them', () => {
    expect(unservedRows([experiments], GRAPH.replace('deleteExperiment: Int', ''), SERVED)).toEqual([
      "experiments: nothing serves deleteExperiment. Give its resolver a method with @Mutation('deleteExperiment').",
    ]);
    expect(unservedRows([experiments], 'type Query { other: Int }', SERVED)).toContain(
      'experiments: nothing serves deleteExperiment. Register its resolver in the subgraph.ts of its owner.',
    );
    const listed = SERVED.filter(({ method, path }) => method !== 'GET' || path.includes('{'));
    expect(unservedRows([experiments], GRAPH, listed)).toEqual([
      'experiments: REST has no GET /experiments. Name the noun in rest-adapter/operations.',
    ]);
  });
});
