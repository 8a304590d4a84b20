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

/** Makes objects of every noun that the caller can make. */
export async function furnish(caller: Caller, options: Furnishing = {}): Promise<Belongings> {
  const { within, times = 1 } = options;
  const without: readonly string[] = options.without ?? [];
  for (const { many } of NOUNS) objectsOf(many);
  const belongings: Partial<Record<IdKind, string>> = {};
  for (const [noun, objects] of Object.entries<NounObjects>(OBJECTS)) {
    if (
      'comesWith' in objects ||
      without.includes(noun) ||
      (within !== undefined && objects.notIn?.includes(within) === true)
    )
      continue;
    for (let index = 0; index < times; index += 1) {
      const id = await objects.make(groundOf(noun, caller, belongings, index, options));
      if (objects.kind === undefined) continue;
      if (typeof id !== 'string' || id === 'undefined')
        throw new Error(`"make" of ${noun} in ${WHERE} gave no id of kind ${objects.kind}`);
      belongings[objects.kind] = id;
    }
  }
  return belongings;
}

function groundOf(
  noun: string,
  caller: Caller,
  belongings: Belongings,
  index: number,
  { shop = OF_SMALLEST_SHOP, withWorker = true }: Furnishing,
): Ground {
  const answered = async (asked: string, answer: Promise<Answer>): Promise<Json> => {
    const { status, text, body } = await answer;
    if (status >= 300) {
      const hint = status === 500 ? '; house.log() says why, test/architecture/entities.test.ts knows one reason' : '';
      throw new Error(`${WHERE} could not make one of ${noun}: ${asked} was answered with ${status} ${text}${hint}`);
    }
    return body;
  };
  const json = { 'content-type': 'application/json' };
  return {
    ...shop,
    index,
    preferring: withWorker ? {} : { prefer: 'wait=0' },
    id: (kind) => idIn(belongings, kind, noun),
    get: (path) => answered(`GET ${path}`, caller.get(path)),
    post: (path, body, headers) => answered(`POST ${path}`, caller.post(path, body, headers)),
    put: (path, body) => answered(`PUT ${path}`, caller.send('PUT', path, JSON.stringify(body), json)),
    register: (members) => answered('POST /agents/register', caller.registerAnother(members)),
  };
}

function idIn(belongings: Belongings, kind: IdKind, noun: string): string {
  const id = belongings[kind];
  if (id === undefined)
    throw new Error(`${noun} in ${WHERE} takes a ${kind} that nobody has made: say how, above what hangs on it`);
  return id;
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

/** The objects that a mutation needs, and what it takes beside them. */
export async function furnishFor(name: string, caller: Caller, options: Furnishing): Promise<Pick<Ground, 'id'>> {
  const belongings = await furnish(caller, options);
  const before = await sampleOf(name).before?.(groundOf(name, caller, belongings, 0, options));
  const all = { ...belongings, ...before };
  return { id: (kind) => idIn(all, kind, name) };
}
