import { operationsOf } from '../../rest-adapter/contract-operations.ts';
import { experiments } from '../../schema/contract/experiments.ts';
import { namedSource } from '../../schema/contract/data-sources.ts';
import { noun } from '../../schema/contract/noun.ts';

test('what was made below another object is found where that object is', () => {
  const { createExperiment, getExperiment } = experiments.operations;
  const path = '/data-sources/{id}/experiments';
  const [create] = operationsOf(
    noun({
      ...experiments,
      operations: {
        createExperiment: { ...createExperiment, path, named: namedSource },
        getExperiment: { ...getExperiment, path: `${path}/{experiment_id}`, named: namedSource },
      },
    }),
  );
  const request = { path: { id: 'ds_1 2' }, query: {}, headers: {}, body: {} };
  expect(create!.location?.({ id: 'exp_1' }, request)).toBe('/data-sources/ds_1%202/experiments/exp_1');
});
