import { z } from 'zod';
import { INPUTS } from '../../schema/contract/inputs.ts';
import { restName } from '../../schema/contract/rest-form.ts';
import { addressOf, exampleRequest, sayings, unknownId, type ChooseId, type Saying } from './example-requests.ts';
import { Caller, openHouse, type House, type Json } from '../house.ts';
import { furnish } from './furnish.ts';
import type { Belongings } from './noun-objects.ts';

/** Reads and subscriptions have no body; rows of a file are checked one by one. */
const SAYINGS = sayings().filter(({ operation }) => operation?.bodySchema !== undefined);

/** One thing that is wrong with a member, and the value that stands there; nothing does where it is undefined. */
interface Fault {
  readonly what: string;
  readonly value: unknown;
}

const LONG = 'x'.repeat(10_000);

function faultsOf(member: z.ZodType): readonly Fault[] {
  const isOptional = member._zod.optin === 'optional';
  const form = z.toJSONSchema(member, { io: 'input', unrepresentable: 'any' });
  const said = JSON.stringify(form);
  const always: readonly Fault[] = [
    { what: isOptional ? 'null where it may be left out' : 'null', value: null },
    ...(isOptional ? [] : [{ what: 'missing', value: undefined }]),
    { what: 'an object', value: { bogus: 1 } },
  ];
  // GraphQL takes a number for an id, and one value for a list of one.
  if (form.type === 'array')
    return [
      ...always,
      ...[[], [{ bogus: 1 }], [null], ['']].map((value) => ({ what: JSON.stringify(value), value })),
      { what: 'a long list', value: Array(600).fill('bogus') },
    ];
  const numbers = ['number', 'integer'].includes(String(form.type));
  const texts: readonly Fault[] = [
    { what: 'an empty text', value: '' },
    { what: 'another text', value: 'bogus' },
    { what: 'a long text', value: LONG },
  ];
  if (numbers)
    return [...always, ...texts.slice(1, 2), ...[-1, 0.123, 1e12].map((value) => ({ what: String(value), value }))];
  const lists = { what: 'a list', value: [1] };
  return form.type === 'boolean' || said.includes('"type":"string"')
    ? [...always, ...texts, lists]
    : [...always, ...texts.slice(1, 2), lists];
}

describe('input that does not fit', () => {
  let house: House;
  let caller: Caller;
  let belongings: Belongings;
  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false });
    caller = await Caller.register(house.root);
    belongings = await furnish(caller, { withWorker: false });
  });
  afterAll(() => house.stop());

  // What would confirm the end of the caller confirms that of another.
  const own: ChooseId = (kind, place) => (place === 'body/confirm' ? undefined : belongings[kind]) ?? unknownId(kind);

  /** What either door says: [REST, GraphQL]. */
  async function refusals(
    saying: Saying,
    member: string,
    { value }: Fault,
    more: object = {},
  ): Promise<readonly [unknown, unknown]> {
    const { operation, text } = saying;
    const request = exampleRequest(operation!, own);
    const { input } = saying.variables(own) as { input: Record<string, unknown> };
    const { schema } = INPUTS.get(inputTypeIn(text)) ?? { schema: undefined };
    if (schema === undefined) throw new Error(`schema/contract/inputs.ts does not know ${inputTypeIn(text)}`);
    const body = { ...(request.body as object), [restName(member, schema.shape[member])]: value, ...more };
    const answer = await caller.send(operation!.method, addressOf(operation!.path, request), JSON.stringify(body), {
      'content-type': 'application/json',
      prefer: 'wait=0',
    });
    const told = await caller.graphql(text, { input: { ...input, [member]: value, ...more } });
    return [ofRest(answer.status, answer.body), ofGraph(told.errors?.[0]?.extensions)];
  }

  test.each(SAYINGS.map((saying) => [saying.operation!.id, saying] as const))('%s', async (_id, saying) => {
    const { schema } = INPUTS.get(inputTypeIn(saying.text)) ?? { schema: z.object({}) };
    const differing: unknown[] = [];
    const compare = async (member: string, fault: Fault, more?: object) => {
      const [rest, graph] = await refusals(saying, member, fault, more);
      if (JSON.stringify(rest) !== JSON.stringify(graph)) differing.push({ member, what: fault.what, rest, graph });
    };
    await compare('bogusMember', { what: 'not known', value: 1 });
    for (const [name, member] of Object.entries(schema.shape) as [string, z.ZodType][]) {
      for (const fault of faultsOf(member)) {
        // With something else that is wrong, so that nothing is done.
        const isAbsence = fault.what === 'null where it may be left out';
        await compare(name, fault, isAbsence ? { bogus: 1 } : {});
      }
    }
    expect(differing).toEqual([]);
  });
});

/** A whole number in the query of a list, and what the graph calls it; a number of a page it does not know. */
interface QueryInteger {
  readonly saying: Saying;
  readonly name: string;
  readonly range: { readonly minimum: number; readonly maximum: number };
  readonly variable: string | null;
}

const SIZES: ReadonlySet<string> = new Set(['per_page', 'limit']);
/** Numbers of other size are none of the graph's. */
const LARGEST_INT = 2 ** 31 - 1;

const QUERY_INTEGERS = sayings().flatMap((saying): QueryInteger[] => {
  const shape = (saying.operation?.querySchema?.shape ?? {}) as Record<string, z.ZodType>;
  return Object.entries(shape).flatMap(([name, member]): QueryInteger[] => {
    const openapi = documented(member);
    if (openapi?.type !== 'integer') return [];
    const inGraph = SIZES.has(name) ? 'first' : name === 'after' ? name : `filter.${camelCase(name)}`;
    const isAsked = saying.text.includes(`$${inGraph.split('.')[0]!}:`) && saying.kind === 'query' && name !== 'page';
    return [{ saying, name, range: openapi, variable: isAsked ? inGraph : null }];
  });
});

function documented(member: z.ZodType): { type: string; minimum: number; maximum: number } | undefined {
  const { openapi } = (member.meta() ?? {}) as { openapi?: { type: string; minimum: number; maximum: number } };
  const { innerType } = member.def as { innerType?: z.ZodType };
  return openapi ?? (innerType === undefined ? undefined : documented(innerType));
}

test('whole numbers of lists and streams are tried at both doors', () => {
  const tried = QUERY_INTEGERS.map(({ saying, name, variable }) => `${saying.operation!.id} ${name} ${variable}`);
  expect(tried).toEqual(
    expect.arrayContaining([
      'listAuditEvents before_sequence filter.beforeSequence',
      'listAuditEvents limit first',
      'listReferrals depth filter.depth',
      'listWebhookDeliveries limit first',
      'streamEvents after null',
    ]),
  );
});

describe('whole numbers of a query', () => {
  let house: House;
  let caller: Caller;
  let belongings: Belongings;
  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false });
    caller = await Caller.register(house.root);
    belongings = await furnish(caller, { withWorker: false });
  });
  afterAll(() => house.stop());

  test.each(QUERY_INTEGERS.map((each) => [`${each.saying.operation!.id}, ${each.name}`, each] as const))(
    '%s',
    async (_title, { saying: { operation, text, variables }, name, range, variable }) => {
      const own: ChooseId = (kind) => belongings[kind] ?? unknownId(kind);
      const request = exampleRequest(operation!, own);
      const smallest = range.minimum - 1;
      const largest = range.maximum + 1;
      for (const [value, code] of [
        [smallest, 'too_small'],
        [-1_000, 'too_small'],
        [largest, 'too_big'],
        ['x', 'invalid_value'],
        ['1.5', 'invalid_value'],
        ['', 'invalid_value'],
      ] as const) {
        const address = addressOf(operation!.path, { ...request, query: { [name]: String(value) } });
        const { status, body } = await caller.get(address);
        const { code: told, param } = (body['error'] ?? {}) as Json;
        const refused = { value, status: 422, code };
        expect({ value, status, code: told, param }).toEqual({ ...refused, param: `query:${name}` });
        // As other lists have it, a page has fewer entries than `limit` may ask for.
        const isOfGraph = typeof value === 'string' || value <= LARGEST_INT;
        if (variable === null || !isOfGraph || (name === 'per_page' && value === largest)) continue;
        const asked = variable.startsWith('filter.')
          ? { filter: { [variable.slice('filter.'.length)]: value } }
          : { [variable]: value };
        const { errors } = await caller.graphql(bare(text), { ...idsIn(variables(own)), ...asked });
        const { http_status, reason } = errors?.[0]?.extensions ?? {};
        expect({ value, status: http_status, code: reason }).toEqual(refused);
      }
    },
  );
});

/** The same question, selecting next to nothing: what much of it costs is another matter. */
function bare(text: string): string {
  const [, definitions, field] = /^query \w+\(([^{]*)\)\s*\{\s*(\w+\([^)]*\))/m.exec(text)!;
  const used = definitions!.split(/,?\s*(?=\$)/).filter((each) => field!.includes(each.slice(0, each.indexOf(':'))));
  return `query (${used.join(', ')}) { ${field} { __typename } }`;
}

/** What a query needs to be asked at all. */
function idsIn(variables: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => name === 'id' || name.endsWith('Id')));
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function inputTypeIn(text: string): string {
  return /\$input: (\w+)!/.exec(text)?.[1] ?? 'nothing';
}

/** Also where the same request was taken before: whoever comes second meets what the first one made. */
const OK = 'taken';

interface Told {
  readonly param: string;
  readonly code: string;
}

const placesOf = (errors: unknown) => ((errors ?? []) as readonly Told[]).map(({ param, code }) => `${param} ${code}`);

function ofRest(status: number, { error }: Json): unknown {
  if (status < 400) return OK;
  const { type, code, param, errors } = error!;
  if (String(type) === 'conflict') return OK;
  return { status, type, code, param, errors: placesOf(errors) };
}

function ofGraph(extensions: Record<string, unknown> | undefined): unknown {
  if (extensions === undefined || extensions['type'] === 'conflict') return OK;
  const { http_status: status, type, reason: code, param, errors } = extensions;
  return { status, type, code, param, errors: placesOf(errors) };
}
