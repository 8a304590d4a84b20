import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { ClickHouse } from '../../platform/clickhouse/client.ts';
import { newUuid, type Uuid } from '../../platform/identifiers.ts';
import { ProblemError } from '../../schema/problems.ts';
import { ingestRecords } from '../../subgraphs/attribution/intake/files/ingest-records.ts';
import type { IngestReport } from '../../subgraphs/attribution/intake/files/ingest-report.ts';
import type { ReadingRoom } from '../../subgraphs/attribution/intake/files/reading-room.ts';
import type { RecordedUpload } from '../../subgraphs/attribution/intake/quality/upload-quality.ts';
import { printable } from '../../report/terminal-text.ts';
import { BadInputError } from './bad-input-error.ts';
import type { CommandProgress } from './command-progress.ts';
import type { optionsOf } from './file-options.ts';
import type { InputFile } from './input-file.ts';

/** A file, and what was said of it. */
export type IngestedFile = InputFile & ReturnType<typeof optionsOf>;

export interface Stores {
  readonly clickhouse: ClickHouse;
  readonly room: ReadingRoom;
}

export interface IngestServices {
  readonly progress: CommandProgress;
  readonly signal: AbortSignal;
  readonly now: Date;
  /** How much of all files has been read, in [0, 1], and of which now. */
  readonly onShare: (share: number, file: string) => void;
}

/** What all files hold together. */
export interface Ingested {
  readonly currency: string | null;
  /** What came of each file. */
  readonly uploads: readonly RecordedUpload[];
  /** Of files of which rows are missing in the figures. */
  readonly warnings: readonly string[];
  /** Over the content of all files: the same files give the same figures, bit by bit. */
  readonly digest: string;
  /** First and last UTC day with a touch, an order or a dated path; null where nothing is dated. */
  readonly days: readonly [string, string] | null;
}

/**
 * Reads the files one after the other into one source; those with sums in other currencies wait for the rates that a
 * later file may hold.
 * @throws BadInputError that names the file
 */
export async function ingestFiles(
  { clickhouse, room }: Stores,
  source: { accountId: Uuid; dataSourceId: Uuid },
  files: readonly IngestedFile[],
  { progress, signal, now, onShare }: IngestServices,
): Promise<Ingested> {
  const totalBytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const digests = new Map<string, string>();
  const days: string[] = [];
  const uploads: RecordedUpload[] = [];
  const warnings: string[] = [];
  /** Files with sums that wait for rates of exchange, which a later file may hold. */
  const waiting: IngestedFile[] = [];
  let doneBytes = 0;
  let currency: string | null = null;

  const ingestOne = async (file: IngestedFile, place: number): Promise<void> => {
    const tellProgress = (bytes: number): void => {
      // Content of a compressed file is larger than the file.
      onShare((doneBytes + Math.min(bytes, file.bytes)) / totalBytes, file.name);
    };
    tellProgress(0);
    await using placed = await room.inPlace(source.accountId, resolve(file.path), file.bytes);
    const report: IngestReport = await ingestRecords(placed, {
      clickhouse,
      room,
      source,
      uploadId: newUuid(now.getTime()),
      onProgress: ({ bytes }) => tellProgress(bytes),
      mediaType: file.mediaType,
      contentEncoding: file.contentEncoding,
      options: file.options,
      usualMapping: file.usualMapping,
      delimiter: 'auto',
      sourceCurrency: currency,
      // Of each file its own: the later one wins, and what it holds can be told from the others.
      now: new Date(now.getTime() + place),
    });
    signal.throwIfAborted();
    doneBytes += file.bytes;
    currency ??= report.currency;
    digests.set(file.path, report.contentDigest);
    const { uploadId: id, kind, rowsAccepted, rowsRejected, quality: found } = report;
    uploads.push({ id, kind, rowsAccepted, rowsRejected, found });
    // Money may be spent before and after the journeys that it is to be held against.
    if (report.kind !== 'spend')
      days.push(...[report.earliest, report.latest].flatMap((time) => (time === null ? [] : [time.slice(0, 10)])));
    progress.note(describeIngest(file, report));
    for (const warning of report.warnings) progress.note(printable(`  ${warning}`));
    refuseUnusable(file, report);
    if (rowsRejected > TOLD_FROM * (rowsAccepted + rowsRejected)) warnings.push(missingRows(file, report));
  };

  for (const [place, file] of files.entries())
    await ingestOne(file, place).catch((error: unknown) => {
      if (isUnconverted(error) && place < files.length - 1) waiting.push(file);
      else throw inFile(file, error);
    });
  for (const file of waiting)
    await ingestOne(file, files.indexOf(file)).catch((error: unknown) => {
      throw inFile(file, error);
    });
  const digest = createHash('sha256');
  for (const { path } of files) digest.update(digests.get(path)!);
  const ordered = days.toSorted();
  return {
    currency,
    uploads,
    warnings,
    digest: digest.digest('hex'),
    days: ordered.length === 0 ? null : [ordered[0]!, ordered.at(-1)!],
  };
}

const isUnconverted = (error: unknown): boolean =>
  error instanceof ProblemError && error.problem.code === 'mixed_currencies';

/** The service speaks of a request's content; here the user must learn which file it was. */
function inFile(file: IngestedFile, error: unknown): unknown {
  return error instanceof ProblemError && error.problem.status < 500
    ? new BadInputError(`${file.path}: ${error.message}${asOption(error)}`, { cause: error })
    : error;
}

/** @throws BadInputError for a file without a single row that counts */
function refuseUnusable(file: IngestedFile, report: IngestReport): void {
  if (report.rowsAccepted > 0) return;
  const [first] = report.firstErrors;
  const why =
    first === undefined
      ? ''
      : ` (line ${first.line}: ${first.column === '' ? '' : `${first.column}: `}${first.message})`;
  throw new BadInputError(`${file.path}: no row can be used${why}. Correct the file.`);
}

/** Beside the figures, since nobody reads again what a file was when it was read. */
const TOLD_FROM = 0.01;

function missingRows(file: InputFile, { rowsAccepted, rowsRejected, firstErrors: [first] }: IngestReport): string {
  const where =
    first === undefined
      ? ''
      : `, the first in line ${first.line}: ${first.column === '' ? '' : `${first.column}: `}${first.message}`;
  const [rejected, all] = [rowsRejected, rowsAccepted + rowsRejected].map((count) => count.toLocaleString('en-US'));
  return `${file.name}: ${rejected} of ${all} rows were rejected and are missing here${where}.`;
}

/** How the command line gives what a request would. */
function asOption({ problem }: ProblemError): string {
  const [, question] = /^\/answers\/(.+)$/.exec(problem.param ?? '') ?? [];
  return question === undefined
    ? ''
    : ` On the command line: --answer '${question.replaceAll('~1', '/').replaceAll('~0', '~')}=…'; liftgraph inspect ` +
        'lists the answers.';
}

/** One line per file: what it held, and the first row that was not taken. */
function describeIngest(file: InputFile, report: IngestReport): string {
  const held = `${file.name}: ${report.rowsAccepted.toLocaleString('en-US')} rows of ${report.kind}`;
  const [first] = report.firstErrors;
  const rejected =
    first === undefined
      ? ''
      : `; ${report.rowsRejected.toLocaleString('en-US')} rejected, the first in line ${first.line}: ` +
        `${first.column === '' ? '' : `${first.column}: `}${first.message}`;
  return printable(held + rejected);
}
