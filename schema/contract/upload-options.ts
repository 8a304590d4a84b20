import { z } from 'zod';
import { CANONICAL_COLUMNS } from '../origins/canonical-columns.ts';
import { didYouMean } from '../unknown-members.ts';
import { graphTypes } from './terms.ts';

/* What a sender says of a file, where the file itself does not. */

const MOST_COLUMNS = 64;
const LONGEST_NAME = 512;
/** A question names a column, and so does its answer. */
const LONGEST_ANSWER = LONGEST_NAME + 32;

const byCanonicalColumn = (code: string) =>
  z
    .record(z.string().max(LONGEST_NAME), z.string().min(1).max(LONGEST_NAME))
    .refine((named) => Object.keys(named).length <= MOST_COLUMNS, `must not name more than ${MOST_COLUMNS} columns`)
    .superRefine((named, context) => {
      for (const column of Object.keys(named)) {
        if ((CANONICAL_COLUMNS as readonly string[]).includes(column)) continue;
        const near = didYouMean(column, CANONICAL_COLUMNS);
        const message = `"${column}" is no canonical column${near || '.'} There are ${CANONICAL_COLUMNS.join(', ')}`;
        context.addIssue({ code: 'custom', path: [column], message, params: { code } });
      }
    })
    .meta({ scalar: 'JSON' });

/** Which column of a file stands for which of ours: canonical name → the file's own. */
export const columnMapping = byCanonicalColumn('invalid_mapping');

/** Any name of the database: `Intl` lists one for each zone, and takes the others, too. Offsets are no names. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const timeZone = z.string().refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin');

function isLocale(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const uploadOptions = z
  .strictObject({
    mapping: columnMapping.optional().meta({
      description: 'Canonical column to the column of the file, such as {"order_id":"Bestellnummer"}',
    }),
    constants: byCanonicalColumn('invalid_constant').optional().meta({
      description: 'Canonical column to the value of all rows, such as {"channel":"meta_ads"}',
    }),
    preset: z.string().min(1).max(64).optional().meta({
      description: 'Which export of which vendor it is, such as shopify_orders; told from the header when absent',
    }),
    locale: z.string().max(64).refine(isLocale, 'must be a language tag such as de-DE').optional().meta({
      description: 'How numbers and dates are written, such as de-DE, where the file can be read in two ways',
    }),
    timezone: timeZone.optional().meta({ description: 'IANA time zone of times that say none; UTC when absent' }),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/, 'must be a code of three letters such as EUR')
      .optional()
      .meta({ description: 'Currency of amounts that name none, ISO 4217' }),
    answers: z
      .record(z.string().max(LONGEST_ANSWER), z.string().min(1).max(LONGEST_ANSWER))
      .refine((answers) => Object.keys(answers).length <= MOST_COLUMNS, `must not be more than ${MOST_COLUMNS}`)
      .optional()
      .meta({
        scalar: 'JSON',
        description: 'Answers to the questions of a dry run, by the id of the question',
      }),
  })
  .register(graphTypes, {
    name: 'UploadOptions',
    description: 'What the sender says of rows, where they do not tell it themselves.',
  })
  .meta({ id: 'UploadOptions' });
export type UploadOptions = z.output<typeof uploadOptions>;
