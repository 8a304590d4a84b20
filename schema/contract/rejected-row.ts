import { z } from 'zod';
import { graphTypes, id } from './terms.ts';

const count = z.int().min(0).meta({ scalar: 'Float' });

export const rejectedRow = z
  .object({
    uploadId: id('upload').nullable().meta({ graph: 'The upload that brought the row.' }),
    line: count.meta({ graph: 'Line of the file, counted from 1; the header is line 1.' }),
    column: z.string().nullable().meta({ graph: 'The column at fault; null when the row as a whole is.' }),
    code: z.string().meta({ graph: 'What is wrong, for programs.' }),
    message: z.string().meta({ graph: 'What is wrong, for people.' }),
  })
  .register(graphTypes, { name: 'RejectedRow', description: 'A row that was not taken, and why.' });

/** A rejected row in the report of its own upload, as REST shows it. */
export const reportedRow = rejectedRow
  .omit({ uploadId: true })
  .meta({ id: 'RejectedRow', description: 'A row that was not stored, and why.' });
