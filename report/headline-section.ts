import type { AttributionReport } from './attribution-report.ts';
import { html, type Markup } from './html.ts';
import { marginPercent, profitOf } from './margin.ts';
import { isIncremental } from './judgement.ts';
import { numberFormat } from './number-format.ts';
import type { ReportStatements } from './statements.ts';
import type { Interval } from './verdicts.ts';

/** The total and the return, each with its interval; recovered revenue explained beside them; what to take away. */
export function headlineSection(report: AttributionReport, said: ReportStatements): Markup {
  const format = numberFormat(report.currency);
  const { total } = said;
  const caused = isIncremental(report);
  const range = (interval: Interval | null, print: (value: number) => string): string[] =>
    interval === null
      ? []
      : [`${format.percent(interval.level)} interval ${print(interval.lower)} to ${print(interval.upper)}`];
  const isKnown = total.channels.length > 0;
  const share = report.revenue > 0 ? `${format.percent(total.revenue / report.revenue)} of ` : 'of ';
  const credit = tile(
    caused ? 'Added by marketing' : 'Credited to marketing',
    isKnown ? format.money(total.revenue) : '–',
    ...range(total.interval, format.money),
    isKnown ? `${share}${format.money(report.revenue)} revenue` : 'not measurable',
  );
  const roas = tile(
    'Return on ad spend',
    total.roas === null ? '–' : format.multiple(total.roas),
    ...range(total.roasInterval, format.multiple),
    total.spend > 0 ? `for ${format.money(total.spend)} spent` : 'no spend in the data',
  );
  const profit = profitOf(report, total.revenue, total.interval, total.spend);
  return html`<div class="tiles${profit === null ? '' : ' four'}">
      <div class="tile lead">${credit}</div>
      <div class="tile">${roas}</div>
      ${
        profit === null
          ? null
          : html`<div class="tile">
              ${tile(
                'Profit',
                isKnown && total.spend > 0 ? format.money(profit.amount) : '–',
                ...(total.spend > 0 ? range(profit.interval, format.money) : []),
                profit.roas === null ? 'no spend in the data' : `profit ROAS ${format.multiple(profit.roas)}`,
                `margin ${marginPercent(report.profitability!.margin)}`,
              )}
            </div>`
      }
      <div class="tile beside">
        <span>Recovered revenue</span>
        <p>${said.recovered}</p>
      </div>
    </div>
    <ul class="findings">
      ${[...said.headline, ...said.groups.map(({ text }) => text), ...said.lastClick, ...said.experiments].map(
        (sentence) => html`<li>${sentence}</li>`,
      )}
    </ul>`;
}

/** What stands in a tile. */
function tile(title: string, figure: string, ...lines: readonly string[]): Markup {
  return html`<span>${title}</span><b>${figure}</b>${lines.map((line) => html`<span>${line}</span>`)}`;
}
