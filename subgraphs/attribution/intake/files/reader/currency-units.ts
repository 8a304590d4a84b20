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
  zł: 'PLN',
};
const CODE = /^[A-Z]{3}$/;

/** ISO 4217 code of what stands beside an amount; null where it may be of several (`$`, `kr`). */
export const currencyOfUnit = (unit: string): string | null => OF_SIGN[unit] ?? (CODE.test(unit) ? unit : null);
