import { z } from 'zod';
import { capitalized, parametersOf, type Noun, type Row } from './noun.ts';
import { idInPath } from './terms.ts';

/** What the path of a row names: the members are the graph's arguments, and REST's parameters in their form. */
export function namedBy(row: Row, noun: Noun): z.ZodObject {
  return row.named ?? z.object(Object.fromEntries(parametersOf(row).map((name) => [name, idOf(noun)])));
}

function idOf({ one, record }: Noun): z.ZodType {
  const prefix = String((record.shape['id'] as z.ZodType).meta()?.prefix);
  return idInPath({ description: `${capitalized(one)}, ${prefix}_…`, graph: `Public id of the ${one}.` });
}
