import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Inspection } from '../../schema/contract/inspection.ts';
import { ProblemError } from '../../schema/problems.ts';
import type { WrittenRates } from '../../subgraphs/attribution/intake/files/reader/currency-rates.ts';
import type { ReadingFinding } from '../../subgraphs/attribution/intake/files/reading-messages.ts';
import { inspectFile } from '../../subgraphs/attribution/intake/files/ingest-records.ts';
import { presentFinding } from '../../subgraphs/attribution/intake/files/inspect-records.ts';
import { ReadingRoom } from '../../subgraphs/attribution/intake/files/reading-room.ts';
import { inspectionText } from './inspection-text.ts';
import { BadInputError } from './bad-input-error.ts';
import { optionsOf, type FileOptions } from './file-options.ts';
import { inputFile, type InputFile } from './input-file.ts';

export interface InspectOptions extends FileOptions {
  readonly json?: true;
}

/** Nobody else is here whose files would have to be kept apart. */
const OWNER = 'inspect';

/** `liftgraph inspect <file…>`: how each file would be read, on standard output; nothing is stored. */
export async function runInspect(paths: readonly string[], said: InspectOptions): Promise<void> {
  const files = await Promise.all([...new Set(paths)].map(inputFile));
  const folder = await mkdtemp(join(tmpdir(), 'liftgraph-'));
  const room = new ReadingRoom({ folder });
  try {
    const asked = files.map((file) => ({ file, said: optionsOf(file.path, said, files.length === 1) }));
    const looks: ReadingFinding[] = [];
    for (const { file, said: options } of asked) looks.push(await lookAt(room, file, options, {}));
    const rates = ratesOf(looks);
    const found: (Inspection & { readonly file: string })[] = [];
    for (const [place, { file, said: options }] of asked.entries()) {
      // Sums are in what the rates of another file make of them, whichever comes first.
      const finding = hasRates(rates) ? await lookAt(room, file, options, rates) : looks[place]!;
      const inspection = presentFinding(finding, { orders: null, users: null });
      found.push({ file: file.path, ...inspection });
      if (said.json !== true) process.stdout.write(`${inspectionText(file.path, inspection)}\n`);
    }
    if (said.json === true) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  } finally {
    await room.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Of all files that hold some; of two that tell one currency, the later one counts. */
const ratesOf = (looks: readonly ReadingFinding[]): WrittenRates =>
  Object.assign({}, ...looks.map(({ sample }) => sample?.rates ?? {})) as WrittenRates;
const hasRates = (rates: WrittenRates): boolean => Object.keys(rates).length > 0;

async function lookAt(
  room: ReadingRoom,
  file: InputFile,
  { options, usualMapping }: ReturnType<typeof optionsOf>,
  rates: WrittenRates,
): Promise<ReadingFinding> {
  await using placed = await room.inPlace(OWNER, resolve(file.path), file.bytes);
  const { mediaType, contentEncoding } = file;
  const reading = { room, mediaType, contentEncoding, options, usualMapping, rates, now: new Date() };
  return await inspectFile(placed, reading).catch((error: unknown) => {
    if (error instanceof ProblemError && error.problem.status < 500)
      throw new BadInputError(`${file.path}: ${error.message}`, { cause: error });
    throw error;
  });
}
