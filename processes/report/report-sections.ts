import { z } from 'zod';
import type { AttributionReport } from './attribution-report.ts';
import { baselineChannels, type CreditRow, creditRows, isMeasurable, paidChannels } from './credit-rows.ts';
import { deltaRInterval } from './delta-r-interval.ts';
import { findings, isIncremental } from './findings.ts';
import { html, type Markup } from './html.ts';
import { IN_PART, NOT_MEASURABLE, identificationNotes } from './identification-notes.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';
import { stitchingNote } from './stitching-note.ts';

/** The four figures that matter, what the revenue is made of, and what to take away. */
export function headlineSection(report: AttributionReport): Markup {
  const format = numberFormat(report.currency);
  const marketing = creditRows(report).find((row) => row.kind === 'marketing')!;
  const share = report.revenue > 0 ? marketing.credited / report.revenue : 0;
  // A bar has no length below 0.
  const bar = Math.min(1, Math.max(0, share));
  const interval = deltaRInterval(report);
  const caused = isIncremental(report);
  const credit = tile(
    caused ? 'Caused by marketing' : 'Credited to marketing',
    format.money(marketing.credited),
    `${format.percent(share)} of ${format.money(report.revenue)} revenue`,
  );
  const recovered = tile(
    'Recovered revenue',
    format.money(report.delta_r_cents / 100),
    'Delta_R: hidden by last click',
    ...(interval === null ? [] : [`interval ${interval.map((cents) => format.money(cents / 100)).join(' to ')}`]),
  );
  const roas = tile(
    'Return on ad spend',
    marketing.roas === null ? '–' : format.multiple(marketing.roas),
    marketing.spend !== null && marketing.spend > 0
      ? `last click says ${format.multiple(marketing.lastClick / marketing.spend)}`
      : 'no spend in the data',
  );
  const confidence =
    report.confidence === null
      ? tile('Confidence', '–', 'this model states none')
      : tile(
          'Confidence',
          report.confidence.toFixed(2),
          'of 1: how well the models agree, and how narrow the intervals are',
        );
  return html`<div class="tiles">
      <div class="tile lead">${credit}</div>
      <div class="tile">${recovered}</div>
      <div class="tile">${roas}</div>
      <div class="tile">${confidence}</div>
    </div>
    <div class="split" aria-hidden="true">
      <i style="width:${(100 * bar).toFixed(2)}%;background:var(--causal)"></i
      ><i style="flex:1;background:var(--baseline)"></i>
    </div>
    <ul class="key">
      <li>
        <i style="background:var(--causal)"></i>${caused ? 'caused by' : 'credited to'} marketing
        ${format.money(marketing.credited)}
      </li>
      <li>
        <i style="background:var(--baseline)"></i
        >${caused ? 'would have been bought anyway' : 'credited to unpaid visits or to none'}
        ${format.money(report.revenue - marketing.credited)}
      </li>
    </ul>
    <ul class="findings">
      ${findings(report).map((finding) => html`<li>${finding}</li>`)}
    </ul>`;
}

/** What stands in a tile. */
function tile(title: string, figure: string, ...lines: readonly string[]): Markup {
  return html`<span>${title}</span><b>${figure}</b>${lines.map((line) => html`<span>${line}</span>`)}`;
}

/** Every channel, all marketing, the baseline and the total. */
export function creditTable(report: AttributionReport): Markup {
  const format = numberFormat(report.currency);
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
              ${cell(row.roas, format.multiple)}${cell(row.confidence, (confidence) => confidence.toFixed(2))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

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

function combination(report: AttributionReport): string {
  if (report.model !== 'causal')
    return `This report shows the ${MODEL_NAMES[report.model] ?? report.model} model alone.`;
  return isIncremental(report)
    ? 'The causal result weights the five by how well they foretell that measured change on shoppers ' +
        'they have not seen.'
    : 'Here PRAV could not run, so that nothing measures change: the causal result combines the other models by ' +
        'published weights, and its credit is what they share out.';
}

const CausalModel = z.object({ weights: z.record(z.string(), z.number()) });
const MODEL_NAMES: Readonly<Record<string, string>> = {
  markov: 'Markov',
  shapley: 'Shapley',
  dominance: 'dominance',
  rwa: 'relative weights',
  prav: 'PRAV',
};

/** How the figures came about, and how to reproduce them. */
export function methodologySection(report: AttributionReport): Markup {
  const format = numberFormat(report.currency);
  const { diagnostics, unattributed_revenue: untouched } = report;
  const causal = CausalModel.safeParse(diagnostics.models['causal']);
  const weights =
    causal.success && report.model === 'causal'
      ? Object.entries(causal.data.weights)
          .map(([model, weight]) => `${MODEL_NAMES[model] ?? model} ${format.percent(weight)}`)
          .join(', ')
      : null;
  const unpaid = baselineChannels(report)
    .map((channel) => channel.channel)
    .join(', ');
  return html`<h2>How the figures came about</h2>
    <p>
      Five models look at the same journeys. <b>Markov</b> asks how many orders are lost when a channel is taken out of
      the flow of visits. <b>Shapley</b> shares each order equally among the channels that took part.
      <b>Dominance</b> and <b>relative weights</b> measure which channels go along with orders, caused or not.
      <b>PRAV</b> asks what a touch changes: it compares how often people buy after a touch with how often they buy at
      any time, and uses unpaid visits, which no advertisement bought, as placebos to take out who would have bought
      anyway. ${combination(report)}
    </p>
    <dl>
      ${fact('period', report.date_range.join(' to '))} ${fact('method', html`<code>${report.methodology}</code>`)}
      ${weights === null ? null : fact('weights of the models', weights)}
      ${fact(
        'data',
        `${format.count(report.conversions)} orders, ${format.count(diagnostics.touches)} touches, ` +
          `${format.count(diagnostics.journeys)} journeys of which ${format.count(diagnostics.converting_journeys)} ` +
          `end in an order`,
      )}
      ${fact('lookback', `${report.lookback_window_days} days before an order`)}
      ${unpaid === '' ? null : fact('unpaid visits (baseline)', unpaid)}
      ${untouched > 0 ? fact('orders without any touch', format.money(untouched)) : null}
      ${fact('digest of the figures', html`<code>${diagnostics.run_digest}</code>`)}
    </dl>`;
}

function fact(term: string, value: string | Markup): Markup {
  return html`<dt>${term}</dt>
    <dd>${value}</dd>`;
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
    <h3>Delta_R</h3>
    <p>
      Last click and this model divide the same revenue. Delta_R adds up what the channels that last click under-credits
      gain. Some Delta_R is noise, so look at its interval too.
    </p>
    <h3>ROAS</h3>
    <p>
      Revenue credited to a channel per unit of spend. It is an average over the period: the next unit spent usually
      earns less.
    </p>
    <h3>What this cannot see</h3>
    <p>
      Touches that were not recorded, advertising that also raises unpaid visits (it makes that channel look weaker),
      and effects that take longer than two weeks.
    </p>`;
}
