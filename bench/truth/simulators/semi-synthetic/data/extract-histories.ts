/**
 * Makes `histories.txt` out of the transactions of Online Retail (Chen 2015, CC BY 4.0), given as CSV files in one
 * folder: `node extract-histories.ts <folder>`. Kept so that the small file can be traced to its source.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FIRST_DAY_MS = Date.UTC(2010, 11, 1);
/** Customers with more invoices in the year are wholesalers on standing order, unlike the people of a web shop. */
const MOST_INVOICES = 60;
/** Invoices of one customer this close together are one purchase that the shop has split. */
const SAME_PURCHASE_MINUTES = 60;

interface Invoice {
  readonly minute: number;
  value: number;
}

/** One line of a CSV file with quoted descriptions. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (const letter of line) {
    if (letter === '"') quoted = !quoted;
    else if (letter === ',' && !quoted) {
      fields.push(field);
      field = '';
    } else field += letter;
  }
  fields.push(field);
  return fields;
}

const folder = process.argv[2] ?? '.';
const customers = new Map<string, Map<string, Invoice>>();
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith('.csv'))
  .toSorted()) {
  for (const line of readFileSync(join(folder, file), 'utf8').split('\n').slice(1)) {
    const [invoice, , , quantity, date, price, customer] = fieldsOf(line);
    const amount = Number(quantity) * Number(price);
    if (!invoice || !date || !customer || invoice.startsWith('C') || !(amount > 0)) continue;
    const minute = Math.round((Date.parse(`${date.replace(' ', 'T')}Z`) - FIRST_DAY_MS) / 60_000);
    const invoices = customers.get(customer) ?? new Map<string, Invoice>();
    customers.set(customer, invoices);
    const known = invoices.get(invoice);
    if (known) known.value += amount;
    else invoices.set(invoice, { minute, value: amount });
  }
}

const lines: string[] = [];
for (const invoices of customers.values()) {
  const sorted: Invoice[] = [];
  for (const next of [...invoices.values()].toSorted((a, b) => a.minute - b.minute || a.value - b.value)) {
    const last = sorted.at(-1);
    if (last && next.minute - last.minute < SAME_PURCHASE_MINUTES) last.value += next.value;
    else sorted.push(next);
  }
  if (sorted.length > MOST_INVOICES) continue;
  let before = 0;
  const parts = sorted.map(({ minute, value }) => {
    const part = `${(minute - before).toString(36)} ${Math.max(1, Math.round(value)).toString(36)}`;
    before = minute;
    return part;
  });
  lines.push(parts.join(' '));
}
// numbers of customers and their order are left out: a line is a person, and nothing says which
lines.sort();
writeFileSync(new URL('./histories.txt', import.meta.url), `${lines.join('\n')}\n`);
