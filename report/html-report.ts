import type { AttributionReport, ReportedChannel } from './attribution-report.ts';
import { agreementChart } from './charts/agreement-chart.ts';
import { customersSection } from './customers-note.ts';
import { campaignTable } from './campaign-table.ts';
import { creditChart } from './charts/credit-chart.ts';
import { spendChart } from './charts/spend-chart.ts';
import { timeChart } from './charts/time-chart.ts';
import { isMeasurable, paidChannels } from './shown-channels.ts';
import { designSection } from './experiment-designs.ts';
import { headlineSection } from './headline-section.ts';
import { isIncremental } from './judgement.ts';
import { marginPercent } from './margin.ts';
import { methodSection } from './method-section.ts';
import { html, Markup } from './html.ts';

import { numberFormat } from './number-format.ts';
import { qualityFacts, qualitySection } from './quality-notes.ts';
import {
  creditTable,
  identificationSection,
  readingGuide,
  rulesTable,
  stitchingSection,
  warningsSection,
} from './report-sections.ts';
import { statementSection } from './statement-section.ts';
import { statementsOf } from './statements.ts';
import { testSection } from './test-section.ts';
import { REPORT_STYLE } from './report-style.ts';

/** Channels drawn in a chart; the table lists all. */
const MAX_DRAWN = 24;

/**
 * One HTML file that holds everything: it loads nothing, runs no script, prints well, and follows the
 * reader's light or dark mode. `subject` names what was analysed.
 */
export function htmlReport(report: AttributionReport, subject: string): string {
  const format = numberFormat(report.currency);
  const said = statementsOf(report);
  const paid = paidChannels(report);
  const drawn = paid.slice(0, MAX_DRAWN);
  const measured = drawn.filter(isMeasurable);
  const margin = report.profitability?.margin ?? null;
  const beyond =
    paid.length > drawn.length ? ` The ${paid.length - drawn.length} smallest channels are in the table only.` : '';
  const figure = (svg: string, caption: string): Markup =>
    html`<figure>
      ${new Markup(svg)}
      <figcaption>${caption}${beyond}</figcaption>
    </figure>`;
  const intervals = drawn.some((channel) => channel.confidence_interval !== null)
    ? ` Whiskers: ${format.percent(report.confidence_level)} interval; an arrow where it goes on beyond the plot.` +
      (drawn.some(({ identification }) => identification?.status === 'partial') ? ' Hatched: known in part.' : '')
    : '';

  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${report.model} attribution · ${subject} · ${report.date_range.join(' to ')}</title>
        <style>
          ${new Markup(REPORT_STYLE)}
        </style>
      </head>
      <body>
        <main>
          <header>
            <h1>
              ${isIncremental(report) ? 'What can be said of your marketing' : 'What your marketing is credited with'}
            </h1>
            <p>
              ${subject} · ${report.date_range.join(' to ')} · ${report.model} model · amounts in ${report.currency}
            </p>
          </header>
          ${qualitySection(report)} ${headlineSection(report, said)} ${stitchingSection(report)}
          ${warningsSection(report)}
          ${
            drawn.length === 0
              ? null
              : html`<h2>Revenue per channel</h2>
                  <p class="note">What the ${report.model} model credits, beside what last click shows.</p>
                  ${figure(
                    creditChart(drawn, report.model, format),
                    `Upper bar: ${report.model} revenue. Lower bar: last click.${intervals}`,
                  )}`
          }
          ${creditTable(report)} ${statementSection(said)} ${identificationSection(report)} ${testSection(report)}
          ${designSection(report)} ${timeSection(report, drawn)}
          ${
            measured.some((channel) => channel.spend > 0)
              ? html`<h2>Spend and return</h2>
                  <p class="note">
                    Above the solid line a channel is credited with more revenue than it
                    costs${margin === null ? '' : `, at a margin of ${marginPercent(margin)}`}. Where its interval
                    crosses the line, that can’t be told.
                  </p>
                  ${figure(
                    spendChart(measured, report.model, format, margin),
                    `The number beside a name is its ${margin === null ? '' : 'profit '}ROAS. ` +
                      'Channels without spend, or not measurable, are left out.',
                  )}`
              : null
          }
          ${
            drawn.length === 0 || Object.keys(report.model_breakdown).length === 0
              ? null
              : html`<h2>Do the models agree?</h2>
                  <p class="note">
                    Marks close together: whichever model you trust, the channel's share is about the same. Marks far
                    apart: look at the interval before you move budget.
                  </p>
                  ${figure(
                    agreementChart(drawn, report.model_breakdown, report.model),
                    'Share of the revenue credited to paid channels, by model. Bars: the published result.',
                  )}`
          }
          ${campaignTable(report)} ${customersSection(report)} ${rulesTable(report)} ${readingGuide(report)}
          ${methodSection(report)} ${qualityFacts(report)}
          <footer>
            Liftgraph · computed ${report.created_at} in ${format.count(report.diagnostics.elapsed_ms)} ms
          </footer>
        </main>
      </body>
    </html> `;
  return page.text;
}

/** The credit over time; nothing where the data has no times, or the range is a single period. */
function timeSection(report: AttributionReport, drawn: readonly ReportedChannel[]): Markup | null {
  const periods = report.time_series ?? [];
  if (periods.length < 2 || drawn.length === 0) return null;
  const partial = periods.some((period) => period.partial) ? ' Periods with an asterisk are cut by the range.' : '';
  return html`<h2>Credit over time</h2>
    <p class="note">
      The ${report.model} credit of the paid channels, by the
      ${isIncremental(report) ? 'touches that earned it' : 'orders that it was earned with'}.
    </p>
    <figure>
      ${new Markup(timeChart(periods, drawn, numberFormat(report.currency)))}
      <figcaption>
        One bar per ${PERIOD_NAMES[report.granularity ?? ''] ?? 'period'}, by its first day (UTC).${partial}
      </figcaption>
    </figure>`;
}

const PERIOD_NAMES: Readonly<Record<string, string>> = { daily: 'day', weekly: 'week', monthly: 'month' };
