import type { Json } from '../house.ts';
import type { IdKind } from './example-requests.ts';

/** Ids by what they name; of each kind that of the object that was made last. */
export type Belongings = Readonly<Partial<Record<IdKind, string>>>;

/** What somebody who makes an object has to go on. */
export interface Ground {
  /** That of the object which was made last; the first one is made for whoever asks. */
  id(kind: IdKind): Promise<string>;
  /** How many of this noun there are already. */
  readonly index: number;
  /** A file of a shop, as CSV. */
  readonly rows: string;
  /** First and last day of it. */
  readonly range: readonly [string, string];
  /** Headers for what takes long: not to wait for it where no worker runs. */
  readonly preferring: Readonly<Record<string, string>>;
  /** The body of an answer. @throws Error for a refusal */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Json>;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Json>;
  put(path: string, body: object): Promise<Json>;
  /** The answer to somebody new who registers. */
  register(members: object): Promise<Json>;
}

/** One request of a mutation, with the members of the answer that an effect decides. */
export interface MutationSample {
  readonly selection: string;
  /** Variant 0 succeeds; variant 1 is another request of the same mutation. Asked twice, first for what it names. */
  input(ground: { readonly id: (kind: IdKind) => string }, variant: 0 | 1): object;
  /** Makes what the mutation takes beside the objects that there are, and gives the ids of it. */
  before?(ground: Ground): Promise<Belongings>;
  /** Why it goes on while the disk is nearly full, though its row is no DELETE. */
  readonly needsNoRoom?: string;
}

/** A mutation that has no effect which could happen twice, and so need not join. */
export interface WithoutEffect {
  readonly withoutEffect: string;
}

interface Mutations {
  readonly mutations?: Readonly<Record<string, MutationSample | WithoutEffect>>;
}

/** What the generated tests know of a noun. */
export type NounObjects = Mutations &
  (
    | {
        /** What its ids are; left out where its objects have none. */
        readonly kind?: IdKind;
        /** Makes one, and gives its id if it has one. */
        make(ground: Ground): Promise<string | void>;
        /** Seen with live and test keys alike. */
        readonly isOfNoEnvironment?: true;
        /** Where it cannot be made. */
        readonly notIn?: readonly ('sandbox' | 'workspace')[];
      }
    /** Nobody makes one; where they come from. */
    | { readonly comesWith: string; readonly kind?: IdKind }
  );
