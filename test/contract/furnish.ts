import { NOUNS } from '../../schema/contract/contract.ts';
import { fieldOf, isMutation, type Row } from '../../schema/contract/noun.ts';
import type { Answer, Caller, Json } from '../house.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';
import type { IdKind } from './example-requests.ts';
import type { Belongings, Ground, MutationSample, NounObjects } from './noun-objects.ts';
import { OBJECTS } from './objects.ts';

const WHERE = 'test/contract/objects.ts';

export interface Furnishing {
  /** Where the caller acts, if that is not the account in the live environment. */
  readonly within?: 'sandbox' | 'workspace';
  /** How many of each are made, noun by noun, so that the last source has as many of what hangs on it; 1. */
  readonly times?: number;
  /** The rows of the sources, and their first and last day; those of the smallest shop. */
  readonly shop?: { readonly rows: string; readonly range: readonly [string, string] };
  /** Nouns of which none are made. */
  readonly without?: readonly (keyof typeof OBJECTS)[];
  /** Whether somebody runs analyses; true. */
  readonly withWorker?: boolean;
}

const OF_SMALLEST_SHOP = { rows: SMALLEST_SHOP, range: ['2026-01-01', '2026-01-31'] } as const;

/** What the tests know of a noun. @throws Error where it is unknown to them */
export function objectsOf(noun: string): NounObjects {
  const objects = (OBJECTS as Readonly<Record<string, NounObjects>>)[noun];
  if (objects === undefined) throw new Error(`the noun ${noun} does not stand in ${WHERE}: say how one is made`);
  return objects;
}

/** The noun whose objects have ids of a kind. */
function makerOf(kind: IdKind): string | undefined {
  return Object.entries<NounObjects>(OBJECTS).find(
    ([, objects]) => !('comesWith' in objects) && objects.kind === kind,
  )?.[0];
}

/** Makes objects of every noun that the caller can make. */
export async function furnish(caller: Caller, options: Furnishing = {}): Promise<Belongings> {
  const { within, times = 1 } = options;
  const without: readonly string[] = options.without ?? [];
  for (const { many } of NOUNS) objectsOf(many);
  const workshop = new Workshop(caller, options);
  for (const [noun, objects] of Object.entries<NounObjects>(OBJECTS)) {
    if (
      'comesWith' in objects ||
      without.includes(noun) ||
      (within !== undefined && objects.notIn?.includes(within) === true)
    )
      continue;
    for (let index = 0; index < times; index += 1) await workshop.make(noun, index);
  }
  return workshop.belongings;
}

/** Makes objects for a caller: what an object hangs on is made before it, where nobody has made it yet. */
class Workshop {
  readonly belongings: Partial<Record<IdKind, string>> = {};
  readonly #caller: Caller;
  readonly #options: Furnishing;

  constructor(caller: Caller, options: Furnishing) {
    this.#caller = caller;
    this.#options = options;
  }

  async make(noun: string, index: number): Promise<void> {
    const objects = objectsOf(noun);
    if ('comesWith' in objects) throw new Error(`nobody makes ${noun}: they come with ${objects.comesWith}`);
    const id = await objects.make(this.ground(noun, index));
    if (objects.kind === undefined) return;
    if (typeof id !== 'string' || id === 'undefined')
      throw new Error(`"make" of ${noun} in ${WHERE} gave no id of kind ${objects.kind}`);
    this.belongings[objects.kind] = id;
  }

  /** The last that was made of a kind, or the first one, made now. */
  async id(kind: IdKind, noun: string): Promise<string> {
    if (this.belongings[kind] === undefined) {
      const maker = makerOf(kind);
      if (maker === undefined) throw new Error(`${noun} in ${WHERE} takes a ${kind} that nobody makes there`);
      await this.make(maker, 0);
    }
    return this.belongings[kind]!;
  }

  ground(noun: string, index: number): Ground {
    const { shop = OF_SMALLEST_SHOP, withWorker = true } = this.#options;
    const answered = async (asked: string, answer: Promise<Answer>): Promise<Json> => {
      const { status, text, body } = await answer;
      if (status >= 300) {
        const hint =
          status === 500 ? '; house.log() says why, test/architecture/entities.test.ts knows one reason' : '';
        throw new Error(`${WHERE} could not make one of ${noun}: ${asked} was answered with ${status} ${text}${hint}`);
      }
      return body;
    };
    const caller = this.#caller;
    const json = { 'content-type': 'application/json' };
    return {
      ...shop,
      index,
      preferring: withWorker ? {} : { prefer: 'wait=0' },
      id: (kind) => this.id(kind, noun),
      get: (path, headers) => answered(`GET ${path}`, caller.get(path, headers)),
      post: (path, body, headers) => answered(`POST ${path}`, caller.post(path, body, headers)),
      put: (path, body) => answered(`PUT ${path}`, caller.send('PUT', path, JSON.stringify(body), json)),
      register: (members) => answered('POST /agents/register', caller.registerAnother(members)),
    };
  }
}

/** Two objects of a kind, such as two data sources; what is made with `below` hangs on the second. */
export async function twoOf(
  kind: IdKind,
  caller: Caller,
  options: Furnishing = {},
): Promise<{ readonly ids: readonly [string, string]; below(noun: string): Promise<Belongings> }> {
  const workshop = new Workshop(caller, options);
  const first = await workshop.id(kind, 'what hangs on it');
  await workshop.make(makerOf(kind)!, 1);
  return {
    ids: [first, workshop.belongings[kind]!],
    below: async (noun) => {
      await workshop.make(noun, 0);
      return workshop.belongings;
    },
  };
}

const MUTATIONS = Object.entries<NounObjects>(OBJECTS).flatMap(([noun, { mutations = {} }]) =>
  Object.entries(mutations).map(([name, sample]) => ({ noun, name, sample })),
);

/** Mutations that have no effect which could happen twice. */
export const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  MUTATIONS.flatMap(({ name, sample }) => ('withoutEffect' in sample ? [name] : [])),
);

/** The row of the contract that asks for a mutation; hand-written documents have none. */
const ROWS: ReadonlyMap<string, Row> = new Map(
  NOUNS.flatMap((noun) =>
    Object.entries<Row>(noun.operations)
      .filter(([, row]) => isMutation(row))
      .map(([id, row]) => [fieldOf(id, row), row]),
  ),
);

/** Mutations that make room, or end a right or work: they go on while the disk is nearly full. */
export function needsNoRoom(name: string): boolean {
  return ROWS.get(name)?.method === 'DELETE' || sampleOf(name).needsNoRoom !== undefined;
}

/** Whether strangers may say it. */
export const isPublic = (name: string): boolean => ROWS.get(name)?.action === null;

/** @throws Error that says where it is missing */
export function sampleOf(name: string): MutationSample {
  const found = MUTATIONS.find((each) => each.name === name);
  if (found === undefined || 'withoutEffect' in found.sample)
    throw new Error(`the mutation ${name} has no sample: add one to "mutations" of its noun in ${WHERE}`);
  return found.sample;
}

/** The inputs of both variants of a mutation, with the objects that they name, and no others, made for the caller. */
export async function inputsFor(name: string, caller: Caller, options: Furnishing): Promise<readonly [object, object]> {
  const sample = sampleOf(name);
  const workshop = new Workshop(caller, options);
  const beside = (await sample.before?.(workshop.ground(name, 0))) ?? {};
  const named = new Set<IdKind>();
  const inputs = (id: (kind: IdKind) => string) => [sample.input({ id }, 0), sample.input({ id }, 1)] as const;
  inputs((kind) => (named.add(kind), 'an id'));
  for (const kind of named) if (beside[kind] === undefined) await workshop.id(kind, name);
  return inputs((kind) => (beside[kind] ?? workshop.belongings[kind])!);
}
