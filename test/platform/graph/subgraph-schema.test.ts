import { execute, parse } from 'graphql';
import { Directive, Field, ID, ObjectType, Query, Resolver } from 'type-graphql';
import { buildSubgraph, type ReferenceResolver } from '../../../platform/graph/subgraph-schema.ts';

@Directive('@key(fields: "id")')
@ObjectType('Lamp')
class LampType {
  @Field(() => ID) id!: string;
  @Field(() => String) colour!: string;
}

class Bulb {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
    Object.freeze(this);
  }

  get colour(): string {
    return `colour of ${this.id}`;
  }
}

@Resolver()
class LampResolver {
  readonly #colour: string;

  constructor(colour: string) {
    this.#colour = colour;
  }

  @Query(() => LampType)
  lamp(): LampType {
    return { id: 'l1', colour: this.#colour };
  }
}

const context = { requestId: 'req_1', principal: null, apiVersion: '2026-02-01' };

function lamps(reference: ReferenceResolver, type = 'Lamp') {
  return buildSubgraph({ name: 'lamps', resolvers: [new LampResolver('red')], references: { [type]: reference } });
}

async function entities(reference: ReferenceResolver, ids: readonly string[]) {
  const { schema } = await lamps(reference);
  const document = parse('query ($r: [_Any!]!) { _entities(representations: $r) { ... on Lamp { id colour } } }');
  return execute({
    schema,
    document,
    contextValue: context,
    variableValues: { r: ids.map((id) => ({ __typename: 'Lamp', id })) },
  });
}

describe('a subgraph from classes', () => {
  test('runs resolvers with the services they were made with', async () => {
    const { schema, sdl } = await lamps(() => null);
    expect(await execute({ schema, document: parse('{ lamp { colour } }'), contextValue: context })).toEqual({
      data: { lamp: { colour: 'red' } },
    });
    expect(sdl).toContain('type Lamp @key(fields: "id")');
  });

  test('resolves references in order: plain, frozen with getters, absent, failing', async () => {
    const result = await entities(
      (reference, from) => {
        expect(from).toBe(context);
        if (reference.id === 'plain') return { id: 'plain', colour: 'blue' };
        if (reference.id === 'frozen') return new Bulb('frozen');
        if (reference.id === 'absent') return null;
        throw new Error('broken');
      },
      ['plain', 'frozen', 'absent', 'failing'],
    );
    expect(JSON.parse(JSON.stringify(result.data))).toEqual({
      _entities: [{ id: 'plain', colour: 'blue' }, { id: 'frozen', colour: 'colour of frozen' }, null, null],
    });
    expect(result.errors?.map(({ path }) => path)).toEqual([['_entities', 3]]);
  });

  test('may return one object for two references', async () => {
    const shared = { id: 'l1', colour: 'blue' };
    expect((await entities(() => shared, ['l1', 'l1'])).errors).toBeUndefined();
  });

  test('refuses a reference resolver for a type that it lacks', async () => {
    await expect(lamps(() => null, 'Lampe')).rejects.toThrow('Lampe');
  });
});
