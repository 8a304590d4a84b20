/**
 * How figures are written in a report. `en-US` digits whatever the host's locale, so that a report reads the same
 * everywhere.
 */
export interface NumberFormat {
  /** `1,234.56` */
  amount(value: number): string;
  /** `$1,234`, or `1,234 XTS` for a code that is not a currency. */
  money(value: number): string;
  /** `$12.3K` for axes. */
  shortMoney(value: number): string;
  /** `18 %` */
  percent(share: number): string;
  /** `3.41×` */
  multiple(ratio: number): string;
  count(value: number): string;
}

/** Formats for amounts in `currency` (ISO 4217 code, else a plain suffix). */
export function numberFormat(currency: string): NumberFormat {
  const isCode = /^[A-Z]{3}$/.test(currency);
  const inCurrency = (options: Intl.NumberFormatOptions): ((value: number) => string) => {
    const format = plain(
      isCode ? { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...options } : options,
    );
    return (value) => (isCode ? format.format(value) : `${format.format(value)} ${currency}`);
  };
  const amount = plain({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const percent = plain({ maximumFractionDigits: 1 });
  const multiple = plain({ minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const count = plain({ maximumFractionDigits: 0 });
  return {
    amount: (value) => amount.format(tidy(value)),
    money: (value) => inCurrency({ maximumFractionDigits: 0 })(tidy(value)),
    shortMoney: (value) =>
      inCurrency({ notation: 'compact', maximumFractionDigits: 1, minimumFractionDigits: 0 })(tidy(value)),
    percent: (share) => `${percent.format(tidy(100 * share))} %`,
    multiple: (ratio) => `${multiple.format(tidy(ratio))}×`,
    count: (value) => count.format(tidy(value)),
  };
}

function plain(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return new Intl.NumberFormat('en-US', options);
}

/** No negative zero in print. */
function tidy(value: number): number {
  return Math.abs(value) < 1e-9 ? 0 : value;
}
