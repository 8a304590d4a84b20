import { z } from 'zod';
import { rejectedRow, reportedRow } from './rejected-row.ts';
import { graphTypes, inRest } from './terms.ts';

/* How rows would be read, for whoever looks before loading them. */

const count = z.int().min(0).meta({ scalar: 'Float' });
const byName = z.record(z.string(), z.string()).meta({ scalar: 'JSON' });

const answer = z
  .object({
    value: z.string().meta({ graph: 'What to answer with.' }),
    label: z.string().meta({ graph: 'What it means.' }),
  })
  .register(graphTypes, { name: 'UploadAnswer', description: 'A possible answer to a question.' });

const question = z
  .object({
    id: z.string().meta({ graph: 'What an answer names.' }),
    column: z.string().meta({ graph: "The file's own column." }),
    code: z
      .enum([
        'ambiguous_decimals',
        'ambiguous_dates',
        'ambiguous_currency',
        'ambiguous_encoding',
        'repeated_orders',
        'uncertain_mapping',
      ])
      .meta({ scalar: 'String', graph: 'What is open, for programs.' }),
    message: z.string().meta({ graph: 'What is open, for people.' }),
    options: z.array(answer).meta({ graph: 'The possible answers.' }),
  })
  .register(graphTypes, { name: 'UploadQuestion', description: 'What a file leaves open, and its owner knows.' });

const sampledRow = z
  .object({
    line: count.meta({ graph: 'Line of the file.' }),
    raw: byName.meta({ graph: 'The row as it stands, by the columns of the file.' }),
    read: byName.meta({ graph: 'The row as it would be stored, by canonical columns.' }),
  })
  .register(graphTypes, { name: 'SampledRow', description: 'A row beside what would be stored of it.' });

const columnReading = z
  .object({
    column: z.string().meta({ graph: "The file's own column." }),
    reading: z.enum(['point', 'comma', 'day_first', 'month_first']).meta({
      scalar: 'String',
      description: 'Which sign stands before decimals, or which part of a date comes first',
    }),
  })
  .register(graphTypes, { name: 'ColumnReading', description: 'How the numbers or dates of a column are read.' });

const currencySum = z
  .object({
    currency: z.string().meta({ graph: 'ISO 4217.' }),
    rows: count.meta({ graph: 'Rows in it.' }),
    amount: z.number().meta({ digits: 2, graph: 'What they are worth.' }),
  })
  .register(graphTypes, { name: 'CurrencySum', description: 'What rows are worth in one currency.' });

const join = z
  .object({
    orders: z.number().nullable().meta({
      description: 'Share of the orders of the file whose user has stored touches; null where it has none',
    }),
    users: z.number().nullable().meta({
      description: 'Share of the users of the file that are known from stored orders or touches; null without users',
    }),
  })
  .register(graphTypes, { name: 'UploadJoin', description: 'How rows would fit to what is stored.' });

export const inspection = z
  .object({
    kind: z.string().meta({ description: 'What the rows are: touchpoints, conversions, spend, …' }),
    preset: z
      .string()
      .nullable()
      .meta({ description: 'The export that it is; null where columns speak for themselves' }),
    certainty: z.number().meta({ description: 'How sure that is, from 0 to 1; below 0.9 it is asked' }),
    mapping: byName.meta({ description: 'Canonical column to the column of the file' }),
    constants: byName.meta({ description: 'Canonical column to the value of all rows' }),
    readings: z.array(columnReading).meta({ description: 'How numbers and dates are read' }),
    currencies: z.array(currencySum).meta({ description: 'What the rows are worth by the currency that they name' }),
    questions: z.array(question).meta({ description: 'What must be answered before the rows are taken' }),
    sample: z.array(sampledRow).meta({ description: 'The first rows that would be taken' }),
    accepted: count.meta({ description: 'Rows that would be stored' }),
    rejected: count.meta({ description: 'Rows that would not' }),
    skipped: count.meta({ description: 'Rows that are no data, such as sums' }),
    errors: inRest(z.array(reportedRow), z.array(rejectedRow)).meta({
      description: 'The first hundred rows that would be rejected',
    }),
    warnings: z.array(z.string()).meta({ description: 'What else the sender should know' }),
    join: join.meta({ description: 'How the rows would fit to what is stored' }),
  })
  .register(graphTypes, {
    name: 'Inspection',
    description: 'How rows would be read. Nothing was stored.',
  })
  .meta({ id: 'Inspection' });
export type Inspection = z.output<typeof inspection>;

/** Of an export of orders, one row of it. */
export const EXAMPLE_INSPECTION: Inspection = {
  kind: 'conversions',
  preset: null,
  certainty: 0.95,
  mapping: { order_id: 'Bestellnummer', user_id: 'Kunde', timestamp: 'Datum', revenue: 'Umsatz' },
  constants: {},
  readings: [
    { column: 'Umsatz', reading: 'comma' },
    { column: 'Datum', reading: 'day_first' },
  ],
  currencies: [],
  questions: [],
  sample: [
    {
      line: 2,
      raw: { Bestellnummer: 'A-1', Kunde: 'k7', Datum: '13.04.2026 10:30', Umsatz: '1.258,00' },
      read: { order_id: 'A-1', user_id: 'k7', timestamp: '2026-04-13T10:30:00.000Z', revenue: '1258' },
    },
  ],
  accepted: 1,
  rejected: 0,
  skipped: 0,
  errors: [],
  warnings: [
    'Times that say no zone were taken as UTC. If they are local times, send the file again with their timezone.',
  ],
  join: { orders: 1, users: 1 },
};
