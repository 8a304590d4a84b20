import type { CurrencySum } from './currency-sums.ts';
import type { ExchangeRates } from './currency-rates.ts';
import type { Question } from './questions.ts';
import { invalidFile } from './refused-file.ts';

/** @throws RefusedFileError with the code of the first question and all of them in `errors`, each with its answers */
export function refuseQuestions(questions: readonly Question[]): void {
  const [first] = questions;
  if (first === undefined) return;
  throw invalidFile(
    first.code,
    `${first.message} Nothing tells it in the file. Send it again with an answer` +
      `${questions.length > 1 ? ` to each of ${questions.length} questions` : ''}, such as ` +
      `answers={"${first.id}":"${first.options[0]?.value ?? ''}"}.`,
    {
      param: `/answers/${pointerPart(first.id)}`,
      errors: questions.map(({ id, code, message, options }) => ({
        param: `/answers/${pointerPart(id)}`,
        code,
        message: `${message} ${offered(options)}`,
      })),
    },
  );
}

/** The answer, where it is one of those offered. @throws RefusedFileError `invalid_answer` */
export function answerTo({ id, options }: Question, given: string): string {
  if (options.some(({ value }) => value === given)) return given;
  throw invalidFile('invalid_answer', `"${given}" is no answer to ${id}. ${offered(options)}`, {
    param: `/answers/${pointerPart(id)}`,
  });
}

const offered = (options: Question['options']): string =>
  `Answer with ${options.map(({ value, label }) => `"${value}" (${label})`).join(' or ')}.`;

/** RFC 6901 §3. */
const pointerPart = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * A source has one currency: rows in another would be missing from every figure.
 * @param own that of the source, null while it has none
 * @param rates what other currencies are worth in it
 * @throws RefusedFileError `mixed_currencies`: what is concerned, by currency
 */
export function refuseCurrencies(sums: readonly CurrencySum[], own: string | null, rates: ExchangeRates): void {
  const unrated = sums.filter(({ currency }) => !Object.hasOwn(rates, currency));
  if (own === null && sums.length > 0 && unrated.length === 0)
    throw invalidFile(
      'mixed_currencies',
      `The file has amounts in ${listOf(sums)}. The source has rates of all these, and nothing says which currency ` +
        'they lead to. Send the file with the currency of the source, such as currency=USD.',
    );
  const known = own ?? unrated[0]?.currency;
  const others = unrated.filter(({ currency }) => currency !== known);
  if (others.length === 0) return;
  throw invalidFile(
    'mixed_currencies',
    `The file has amounts in other currencies than ${known}: ${listOf(others)}. A source has one currency` +
      `. Send the rates of exchange first (a file with date, currency and rate), or the rows of each currency to a ` +
      `source of their own.`,
  );
}

const listOf = (sums: readonly CurrencySum[]): string =>
  sums
    .slice(0, 5)
    .map(({ currency, rows, amount }) => `${currency} ${amount.toFixed(2)} in ${rows} ${rows === 1 ? 'row' : 'rows'}`)
    .join(', ');
