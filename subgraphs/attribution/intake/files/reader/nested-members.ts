import { plainName } from './column-names.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Of objects in objects; what lies deeper has no name. */
const MOST_LEVELS = 5;
const LONGEST_NAME = 200;
/** Members of one list of keys and values; later ones have no name. */
const MOST_KEYS = 200;

/** `context.campaign.source`, part by part. */
export type NestedName = readonly string[];

export function nestedName(column: string): NestedName | null {
  const parts = column.split('.');
  return parts.length > 1 && parts.length <= MOST_LEVELS ? parts : null;
}

/**
 * Names of what lies in objects and lists of keys and values, such as `context.campaign.source` and
 * `event_params.ga_session_id`. A name that says the same as a column's own is left to that column.
 * @param most names beyond are left out
 */
export function nestedNames(objects: readonly JsonObject[], own: ReadonlySet<string>, most: number): string[] {
  const names = new Set<string>();
  const taken = new Set([...own].map(plainName));
  const enter = (path: string, value: unknown, level: number): void => {
    for (const [key, member] of membersOf(value)) {
      if (names.size >= most) return;
      const name = `${path}.${key}`;
      if (key.includes('.') || name.length > LONGEST_NAME) continue;
      if (!names.has(name)) {
        const plain = plainName(name);
        if (taken.has(plain)) continue;
        taken.add(plain);
        names.add(name);
      }
      if (level < MOST_LEVELS) enter(name, member, level + 1);
    }
  };
  for (const object of objects) {
    if (names.size >= most) break;
    for (const key of Object.keys(object))
      if (typeof object[key] === 'object' && object[key] !== null && !key.includes('.')) enter(key, object[key], 2);
  }
  return [...names];
}

/** The members of objects of one row; lists of keys and values are looked through once. */
export class NestedMembers {
  #object: JsonObject = {};
  readonly #lists = new Map<unknown, ReadonlyMap<string, unknown>>();

  of(object: JsonObject): void {
    this.#object = object;
    if (this.#lists.size > 0) this.#lists.clear();
  }

  /** Undefined where there is none. */
  at(name: NestedName): unknown {
    let value: unknown = this.#object;
    for (const part of name) {
      if (Array.isArray(value)) value = this.#listOf(value).get(part);
      else if (isObject(value) && Object.hasOwn(value, part)) value = value[part];
      else return undefined;
    }
    return value;
  }

  #listOf(list: readonly unknown[]): ReadonlyMap<string, unknown> {
    let members = this.#lists.get(list);
    if (members === undefined) this.#lists.set(list, (members = new Map(keysAndValues(list))));
    return members;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function membersOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return keysAndValues(value);
  return isObject(value) ? Object.entries(value) : [];
}

/** `[{"key": …, "value": …}]`: the first of each key counts. Other lists have no members. */
function keysAndValues(list: readonly unknown[]): (readonly [string, unknown])[] {
  const found: (readonly [string, unknown])[] = [];
  for (const entry of list.slice(0, MOST_KEYS)) {
    if (!isObject(entry) || typeof entry['key'] !== 'string') return [];
    found.push([entry['key'], valueOf(entry['value'])]);
  }
  return found.toReversed();
}

/** BigQuery has a member for each type, of which one is filled. */
function valueOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { string_value: text, int_value: integer, double_value: number, float_value: small } = value;
  const filled = text ?? integer ?? number ?? small;
  return filled === undefined ? (Object.keys(value).length === 0 ? null : value) : filled;
}
