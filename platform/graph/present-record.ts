import type { z } from 'zod';
import { saidOf } from '../../schema/contract/terms.ts';
import type { IdPrefix } from '../../schema/id-prefixes.ts';
import { publicId, type Uuid } from '../identifiers.ts';

/** Entities may keep their lists from being changed. */
type Kept<Value> = Value extends readonly (infer Element)[] ? readonly Element[] : Value;
/** What is shown as a value; null also stands for what is not there. */
type Fitting<Value> = Kept<Value> | (null extends Value ? undefined : never);
/** The members of a record that an entity does not hold as they are shown. */
type Missing<Shown, Entity> = {
  [Name in keyof Shown]-?: Name extends keyof Entity
    ? Entity[Name] extends Fitting<Shown[Name]>
      ? never
      : Name
    : Name;
}[keyof Shown];

/**
 * A record of the contract from an entity of the same names: public ids in place of UUIDs, null for what is not there.
 * @param own the members that the entity does not hold, and any that are to be shown otherwise
 */
export function presentRecord<Schema extends z.ZodObject, Entity extends object>(
  schema: Schema,
  entity: Entity,
  own: Pick<z.output<Schema>, Missing<z.output<Schema>, Entity>> & Partial<z.output<Schema>>,
): z.output<Schema> {
  const held = entity as Readonly<Record<string, unknown>>;
  const said = own as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, member]) => {
      if (Object.hasOwn(said, name)) return [name, said[name]];
      const { prefix } = saidOf(member as z.ZodType);
      const value = held[name] ?? null;
      return [name, prefix === undefined || value === null ? value : publicId(prefix as IdPrefix, value as Uuid)];
    }),
  ) as z.output<Schema>;
}
