import { access, constants, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { QualityCode } from '../../schema/contract/data-quality.ts';
import type { AttributionModel, Granularity } from '../../subgraphs/attribution/analysis/attributions/attribution.ts';
import { terminalTable } from '../../report/terminal-table.ts';
import { BadInputError } from './bad-input-error.ts';
import { readChannelRules } from './channel-rules-file.ts';
import { commandProgress } from './command-progress.ts';
import { readExperiments } from './experiments-file.ts';
import { optionsOf, type FileOptions } from './file-options.ts';
import { inputFile } from './input-file.ts';
import type { ReportPath } from './option-values.ts';

export interface AnalyzeOptions extends FileOptions {
  readonly model: AttributionModel;
  readonly from?: string;
  readonly to?: string;
  readonly granularity?: Granularity;
  readonly lookbackDays: number;
  readonly order: number;
  readonly confidence: number;
  readonly baseline?: readonly string[];
  readonly margin?: number;
  readonly channelRules?: string;
  readonly experiments?: string;
  readonly acceptQuality?: readonly QualityCode[];
  readonly json?: true;
  readonly report?: readonly ReportPath[];
}

const TABLE_WIDTH = { least: 60, elsewhere: 120 } as const;

/** `liftgraph analyze <file…>`: progress on standard error, the table (or JSON) on standard output. */
export async function runAnalyze(paths: readonly string[], options: AnalyzeOptions): Promise<void> {
  if (options.from !== undefined && options.to !== undefined && options.from > options.to) {
    throw new BadInputError(`--from ${options.from} lies after --to ${options.to}. Swap them.`);
  }
  // Before the analysis, which takes its time.
  for (const { path } of options.report ?? []) await assertWritable(path);
  const files = await Promise.all([...new Set(paths)].map(inputFile));
  const experiments = options.experiments === undefined ? [] : await readExperiments(options.experiments);
  const channelRules = options.channelRules === undefined ? [] : await readChannelRules(options.channelRules);
  if (experiments.length > 0 && options.model !== 'causal')
    throw new BadInputError(`--experiments calibrate the causal model alone. Leave --model ${options.model} out.`);
  // The engine and the models are loaded once the files are known to be there.
  const { analyzeFiles } = await import('./analyze-files.ts');
  const progress = await commandProgress(process.stderr);
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const report = await analyzeFiles(
      {
        files: files.map((file) => ({ ...file, ...optionsOf(file.path, options, files.length === 1) })),
        model: options.model,
        from: options.from ?? null,
        to: options.to ?? null,
        granularity: options.granularity ?? null,
        lookbackDays: options.lookbackDays,
        markovOrder: options.order,
        confidenceLevel: options.confidence,
        baselineChannels: options.baseline ?? null,
        margin: options.margin ?? null,
        channelRules,
        experiments,
        acceptQuality: options.acceptQuality ?? [],
      },
      { progress, signal: interrupted.signal, now: new Date() },
    );
    progress.end();
    const subject = files.map((file) => file.name).join(', ');
    for (const { path, format } of options.report ?? []) {
      const { reportFile } = await import('../../report/report-file.ts');
      await writeFile(path, await reportFile(format, report, subject)).catch(refuseReport(path));
      progress.note(`report written to ${path}`);
    }
    process.stdout.write(
      `${options.json === true ? JSON.stringify(report, null, 2) : terminalTable(report, tableLook())}\n`,
    );
  } finally {
    progress.end();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/** NO_COLOR by the convention of that name: present and not empty means no colours. */
function tableLook(): { readonly width: number; readonly colours: boolean } {
  const { stdout } = process;
  return stdout.isTTY
    ? { width: Math.max(TABLE_WIDTH.least, stdout.columns), colours: (process.env['NO_COLOR'] ?? '') === '' }
    : { width: TABLE_WIDTH.elsewhere, colours: false };
}

async function assertWritable(file: string): Promise<void> {
  await access(dirname(file), constants.W_OK).catch(refuseReport(file));
}

const refuseReport =
  (file: string) =>
  (error: NodeJS.ErrnoException): never => {
    throw new BadInputError(
      `${file}: the report cannot be written there (${error.code ?? error.message}). Choose another place.`,
      { cause: error },
    );
  };
