import type { AttributionReport } from './attribution-report.ts';
import { type CreditRow, creditRows } from './credit-rows.ts';
import { fact } from './fact.ts';
import { html, type Markup } from './html.ts';
import { IN_PART, NOT_MEASURABLE, identificationNotes } from './identification-notes.ts';
import { isIncremental } from './judgement.ts';
import { marginPercent } from './margin.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';
import { baselineChannels, isMeasurable, paidChannels } from './shown-channels.ts';
import { stitchingNote } from './stitching-note.ts';

/** Every channel, all marketing, the baseline and the total. */
export function creditTable(report: AttributionReport): Markup {
  const format = numberFormat(report.currency);
  const hasMargin = report.profitability !== undefined;
  const difference = (row: CreditRow): Markup => {
    const delta = row.credited - row.lastClick;
    const sign =
      Math.abs(delta) < 0.005 || row.kind === 'total' || row.identified === 'none' ? '' : delta > 0 ? 'plus' : 'minus';
    return html`<td class="${sign}">
      ${sign === '' ? '–' : (delta > 0 ? '+' : '−') + format.amount(Math.abs(delta))}
    </td>`;
  };
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">channel</th>
          <th scope="col">spend</th>
          <th scope="col">last click</th>
          <th scope="col">${report.model}</th>
          <th scope="col">difference</th>
          <th scope="col">${format.percent(report.confidence_level)} interval</th>
          <th scope="col">ROAS</th>
          ${hasMargin ? PROFIT_HEADS : null}
          <th scope="col">confidence</th>
        </tr>
      </thead>
      <tbody>
        ${creditRows(report).map(
          (row) =>
            html` <tr class="${row.kind}">
              <th scope="row">${row.label}</th>
              ${cell(row.spend, format.amount)} ${cell(row.lastClick, format.amount)} ${creditCell(row, format)}
              ${difference(row)}
              <td>
                ${
                  row.interval === null
                    ? '–'
                    : `${format.count(row.interval.lower)} … ${format.count(row.interval.upper)}`
                }
              </td>
              ${cell(row.roas, format.multiple)}${hasMargin ? profitCells(row, format) : null}
              ${cell(row.confidence, (confidence) => confidence.toFixed(2))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

const PROFIT_HEADS = html`<th scope="col">profit</th>
  <th scope="col">profit ROAS</th>`;

const profitCells = ({ profit, profitRoas }: CreditRow, format: NumberFormat): Markup =>
  html`${cell(profit, format.amount)}${cell(profitRoas, format.multiple)}`;

function creditCell({ identified, credited }: CreditRow, format: NumberFormat): Markup {
  if (identified === 'none') return html`<td>${NOT_MEASURABLE}</td>`;
  return html`<td>${identified === 'partial' ? `${IN_PART} ` : ''}${format.amount(credited)}</td>`;
}

/** Which effects are known in part only or not at all, why, and what would help. */
export function identificationSection(report: AttributionReport): Markup | null {
  const notes = identificationNotes(report);
  if (notes.length === 0) return null;
  return html`<h2>What these rows cannot tell</h2>
    <p class="note">
      ${IN_PART} marks a channel that is known in part: its interval holds every effect that the rows leave possible,
      beside chance. Of a channel that is ${NOT_MEASURABLE}, no figure is claimed: what it may have brought stands in
      the baseline.
    </p>
    <dl>${notes.map(({ channels, message }) => fact(channels.join(', '), message))}</dl>`;
}

function cell(value: number | null, print: (value: number) => string): Markup {
  return html`<td>${value === null ? '–' : print(value)}</td>`;
}

const RULES: Readonly<Record<string, string>> = {
  last_click: 'last click',
  first_click: 'first click',
  linear: 'linear',
  time_decay: 'time decay',
  position_based: 'position',
};

/** What the rules of thumb would say. */
export function rulesTable(report: AttributionReport): Markup | null {
  const rules = Object.entries(report.comparison).filter(([, byChannel]) => Object.keys(byChannel).length > 0);
  if (rules.length === 0) return null;
  const format = numberFormat(report.currency);
  return html`<h2>What rules of thumb would say</h2>
    <p class="note">
      Revenue by rule. Rules share out all revenue among the touches before an order, whether these changed anything or
      not.
    </p>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">channel</th>
            ${rules.map(([rule]) => html`<th scope="col">${RULES[rule] ?? rule}</th>`)}
            <th scope="col">${report.model}</th>
          </tr>
        </thead>
        <tbody>
          ${[...paidChannels(report), ...baselineChannels(report)].map(
            (channel) =>
              html` <tr class="${channel.is_baseline ? 'baseline' : 'channel'}">
                <th scope="row">${channel.channel}</th>
                ${rules.map(([, byChannel]) => html`<td>${format.amount(byChannel[channel.channel] ?? 0)}</td>`)}
                <td>${isMeasurable(channel) ? format.amount(channel.attributed_revenue) : NOT_MEASURABLE}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

/** Who was taken for whom. */
export function stitchingSection(report: AttributionReport): Markup | null {
  const note = stitchingNote(report);
  return note === null ? null : html`<p class="note">${note}</p>`;
}

/** What the reader must be told before anything else. */
export function warningsSection(report: AttributionReport): Markup | null {
  const { warnings } = report.diagnostics;
  if (warnings.length === 0) return null;
  return html`<section class="warnings">
    <h2>Before you decide on these figures</h2>
    <ul>
      ${warnings.map((warning) => html`<li>${warning}</li>`)}
    </ul>
  </section>`;
}

/** For a reader who sees such a report for the first time. */
export function readingGuide(report: AttributionReport): Markup {
  const format = numberFormat(report.currency);
  return html`<h2>How to read this report</h2>
    ${
      isIncremental(report)
        ? html`<h3>Baseline</h3>
            <p>
              What would have been sold without any marketing: regulars, recommendations, shoppers who look for the shop
              by name. No channel gets credit for it.
            </p>`
        : html`<h3>Credit</h3>
            <p>
              Here all revenue with a recorded touch is shared out among the touches before it, also what would have
              been bought without them. To learn what marketing changed, analyse touchpoints of single users with the
              causal model.
            </p>`
    }
    <h3>Interval</h3>
    <p>
      The ${format.percent(report.confidence_level)} interval of a channel says how far off its figure may be: by
      chance, and under prav and causal because the placebo comparison can only be carried so far. Under causal it also
      allows for what nobody knows of a shop, which moves any channel by about a tenth of the revenue; it may reach
      below 0, since a channel can do harm. Under the other models it says nothing of whether the model is right. A wide
      interval is an honest answer: move budget in small steps, and test. An experiment narrows it.
    </p>
    <h3>Total</h3>
    <p>
      Its interval goes from the sum of the lower ends of the channels to the sum of the upper ends, since what is wrong
      with one channel may be wrong with all of them. It is wide; an experiment that keeps people from all paid channels
      at once narrows it.
    </p>
    <h3>Delta_R</h3>
    <p>
      Last click and this model divide the same revenue. Delta_R adds up what the channels that last click under-credits
      gain; what the others lose is not taken off. So it is no revenue beside the total, and some of it is noise: look
      at its interval too.
    </p>
    <h3>ROAS, break-even</h3>
    <p>
      Revenue credited to a channel per unit of spend. It is an average over the period: the next unit spent usually
      earns less.
      ${
        report.profitability === undefined
          ? 'Break-even is where the revenue is as much as the spend.'
          : `Break-even is where the revenue, times the margin of ${marginPercent(report.profitability.margin)}, ` +
            'is as much as the spend. Profit is what is left of the revenue after the cost of the goods and the ' +
            'spend; profit ROAS is the revenue times the margin per unit of spend, and 1 at break-even.'
      }
    </p>
    <h3>What this cannot see</h3>
    <p>
      Touches that were not recorded, advertising that also raises unpaid visits (it makes that channel look weaker),
      and effects that take longer than two weeks.
    </p>`;
}
