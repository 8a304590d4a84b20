import type { ReportFormat } from '../schema/value-lists.ts';
import type { AttributionReport } from './attribution-report.ts';

/** Loaded when they are asked for: whoever never wants a report does without the libraries that make one. */
const WRITERS = {
  html: async () => (await import('./html-report.ts')).htmlReport,
  xlsx: async () => (await import('./workbook.ts')).reportWorkbook,
} as const satisfies Record<ReportFormat, () => Promise<(report: AttributionReport, subject: string) => unknown>>;

/** The report as the content of a file. `subject` names what was analysed. */
export async function reportFile(format: ReportFormat, report: AttributionReport, subject: string): Promise<Buffer> {
  const write = await WRITERS[format]();
  return Buffer.from(await write(report, subject));
}
