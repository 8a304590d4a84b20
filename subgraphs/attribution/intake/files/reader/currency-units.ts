import type { Question } from './questions.ts';
import { invalidFile } from './refused-file.ts';

/** Signs that mean one currency wherever they stand. */
const OF_SIGN: Readonly<Record<string, string>> = {
  '€': 'EUR',
  '£': 'GBP',
  '₹': 'INR',
  '₺': 'TRY',
  '₽': 'RUB',
  '₩': 'KRW',
  '₪': 'ILS',
  '฿': 'THB',
  '₫': 'VND',
  '₴': 'UAH',
  '₦': 'NGN',
  US$: 'USD',
  C$: 'CAD',
  CA$: 'CAD',
  A$: 'AUD',
  AU$: 'AUD',
  NZ$: 'NZD',
  R$: 'BRL',
  HK$: 'HKD',
  S$: 'SGD',
  NT$: 'TWD',
  MX$: 'MXN',
  'CN¥': 'CNY',
  RMB: 'CNY',
  'JP¥': 'JPY',
  円: 'JPY',
  zł: 'PLN',
  Kč: 'CZK',
  Ft: 'HUF',
  Fr: 'CHF',
  'Fr.': 'CHF',
  SFr: 'CHF',
  'SFr.': 'CHF',
  TL: 'TRY',
  RM: 'MYR',
  R: 'ZAR',
  Rp: 'IDR',
  'Rp.': 'IDR',
};
const DOLLARS = ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'TWD', 'MXN', 'CLP', 'COP', 'ARS'];
const CROWNS = ['SEK', 'NOK', 'DKK', 'ISK'];
const YEN = ['JPY', 'CNY'];
const RUPEES = ['INR', 'PKR', 'LKR', 'NPR', 'MUR'];
/** Signs that several currencies share, the most usual first. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  $: DOLLARS,
  kr: CROWNS,
  'kr.': CROWNS,
  Kr: CROWNS,
  'Kr.': CROWNS,
  '¥': YEN,
  '￥': YEN,
  元: ['CNY', 'TWD'],
  Rs: RUPEES,
  'Rs.': RUPEES,
  lei: ['RON', 'MDL'],
};
/** Offered for a sign that nobody knows. */
const USUAL = [...DOLLARS, 'EUR', 'GBP', 'CHF', 'ZWG', 'XCD', 'JMD', 'BSD', 'FJD', 'NAD', 'EGP'];
/** A dollar sign alone says no more than that amounts are in what the source has, which begins as USD. */
const BARE_DOLLAR = '$';
const CODE = /^[A-Z]{3}$/;
/** Of ISO 4217, those that have no smaller unit: what stands between digits of their amounts parts thousands. */
const WITHOUT_DECIMALS: ReadonlySet<string> = new Set(
  'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' '),
);

export const hasDecimals = (currency: string): boolean => !WITHOUT_DECIMALS.has(currency);

/** The ISO 4217 codes that may be meant by what stands beside an amount: one where it is sure. */
function currenciesOfUnit(unit: string): readonly string[] {
  const sure = OF_SIGN[unit] ?? (CODE.test(unit) ? unit : undefined);
  return sure === undefined ? (SHARED[unit] ?? USUAL) : [sure];
}

/** A column of amounts with what stands beside them. */
export interface ColumnUnits {
  readonly name: string;
  readonly units: readonly string[];
}

export interface CurrencyOfUnits {
  /** Null where nothing stands beside the amounts, or what does is open. */
  readonly currency: string | null;
  readonly question: Question | null;
}

/** What they say beside a column of currencies: of rows that name none. */
export function currencyBeside(columns: readonly ColumnUnits[]): string | null {
  const sure = columns.flatMap(({ units }) => units.map(currenciesOfUnit)).filter(({ length }) => length === 1);
  const currencies = new Set(sure.flat());
  return currencies.size === 1 ? currencies.values().next().value! : null;
}

/**
 * What the signs beside amounts say of their currency, where the file has no column of currencies.
 * @param own currency of the source; null while it has none
 * @throws RefusedFileError `mixed_currencies` where no currency is written in all these ways
 */
export function currencyOfUnits(columns: readonly ColumnUnits[], own: string | null): CurrencyOfUnits {
  const open = columns.flatMap(({ name, units }) => units.map((unit) => ({ name, unit, of: currenciesOfUnit(unit) })));
  const [first] = open;
  if (first === undefined) return { currency: null, question: null };
  const candidates = first.of.filter((currency) => open.every(({ of }) => of.includes(currency)));
  if (candidates.length === 0) return refuseUnits(open.map(({ unit }) => unit));
  if (candidates.length === 1) return { currency: candidates[0]!, question: null };
  const isSourcesOwn = own === null ? open.every(({ unit }) => unit === BARE_DOLLAR) : candidates.includes(own);
  if (isSourcesOwn) return { currency: null, question: null };
  const least = open.reduce((a, b) => (b.of.length < a.of.length ? b : a));
  return { currency: null, question: questionOf(least.name, least.unit, candidates) };
}

function questionOf(column: string, unit: string, candidates: readonly string[]): Question {
  const [likeliest] = candidates;
  return {
    id: `currency:${column}`,
    column,
    code: 'ambiguous_currency',
    message:
      `In "${column}", which currency is "${unit}"? It may be ${candidates.join(', ')}. ` +
      `Say it with currency=${likeliest} (--currency ${likeliest}).`,
    options: candidates.map((currency) => ({ value: currency, label: `amounts are in ${currency}` })),
  };
}

function refuseUnits(units: readonly string[]): never {
  const signs = [...new Set(units)].map((unit) => `"${unit}"`).join(', ');
  throw invalidFile(
    'mixed_currencies',
    `Amounts stand beside signs of different currencies: ${signs}. Put the currency of each row into a column ` +
      `"currency", such as EUR, or send the rows of each currency in a file of their own.`,
  );
}
