import type { AttributionReport, ReportedQuality } from './attribution-report.ts';
import { html, type Markup } from './html.ts';

type Check = ReportedQuality['checks'][number];

const BLOCKING = 'Not good enough, accepted';

/** What is wrong with the rows, in lines that stand ahead of every figure; what is for information only is left out. */
export function qualityNotes({ data_quality: quality }: AttributionReport): readonly string[] {
  return (quality?.checks ?? []).flatMap((check) => {
    if (check.severity === 'info') return [];
    const ahead = check.severity === 'blocking' ? `${BLOCKING} (${check.code})` : `Data quality (${check.code})`;
    return [`${ahead}: ${check.message} ${check.remedy}`];
  });
}

/** The same for a page, ahead of its figures. */
export function qualitySection({ data_quality: quality }: AttributionReport): Markup | null {
  const checks = (quality?.checks ?? []).filter(({ severity }) => severity !== 'info');
  if (checks.length === 0) return null;
  const isBlocking = quality!.status === 'blocking';
  return html`<section class="warnings${isBlocking ? ' blocking' : ''}">
    <h2>${isBlocking ? 'The data is not good enough; whoever asked accepted that' : 'What the data lacks'}</h2>
    <ul>
      ${checks.map(qualityItem)}
    </ul>
  </section>`;
}

/** What is so, and does no harm by itself: beside the method. */
export function qualityFacts({ data_quality: quality }: AttributionReport): Markup | null {
  const checks = (quality?.checks ?? []).filter(({ severity }) => severity === 'info');
  return checks.length === 0
    ? null
    : html`<ul class="note">
        ${checks.map(qualityItem)}
      </ul>`;
}

const qualityItem = ({ severity, message, remedy, code }: Check): Markup =>
  html`<li>${severity === 'blocking' ? html`<b>${message}</b>` : message} ${remedy} <code>${code}</code></li>`;
