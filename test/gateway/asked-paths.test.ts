import { parse } from 'graphql';
import { askedPaths } from '../../gateway/asked-paths.ts';

describe('where the answer of a subgraph would have stood', () => {
  test('at its root fields, by their names in the answer', () => {
    expect(
      askedPaths(parse('{ __typename me { name } mine: keys { totalCount } ... { plans { name } } }'), {}),
    ).toEqual([['me'], ['mine'], ['plans']]);
  });

  test('at each field of each entity, by its type', () => {
    const document = parse(
      'query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Agent { tier name ' +
        '} ... on Attribution { __typename platformFeeCents } } }',
    );
    const representations = [
      { __typename: 'Attribution', id: '1' },
      { __typename: 'Agent', id: '2' },
      { __typename: 'Other', id: '3' },
    ];
    expect(askedPaths(document, { representations })).toEqual([
      ['_entities', 0, 'platformFeeCents'],
      ['_entities', 1, 'tier'],
      ['_entities', 1, 'name'],
    ]);
  });

  test('but not where a condition leaves it out', () => {
    const document = parse(
      'query ($on: Boolean!) { a @include(if: $on) b @skip(if: $on) ... @include(if: $on) { c } d @include(if: true) }',
    );
    expect(askedPaths(document, { on: true })).toEqual([['a'], ['c'], ['d']]);
    expect(askedPaths(document, { on: false })).toEqual([['b'], ['d']]);
  });
});
