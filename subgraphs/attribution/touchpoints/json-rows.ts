import { z } from 'zod';
import { ProblemError } from '../../../schema/problems.ts';

const MAX_ROWS = 1_000;
const MAX_BYTES = 25 * 1024 * 1024;
const Rows = z.array(z.unknown()).min(1).max(MAX_ROWS);

/**
 * A JSON array of at most 1000 rows as one line per row, so that a row's line is its place in the array.
 * @throws ProblemError `invalid_request` when it is no JSON, `validation_error` when it is no such array, `payload_too_large`
 */
export async function* jsonRowsAsLines(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new ProblemError('payload_too_large', 'A JSON array of rows may have at most 25 MiB; send NDJSON or CSV instead');
    pieces.push(piece);
  }
  const rows = Rows.safeParse(parsed(Buffer.concat(pieces).toString()));
  if (!rows.success) {
    throw new ProblemError('validation_error', `The body must be an array of 1 to ${MAX_ROWS} rows; send more of them as NDJSON or CSV`, { code: 'invalid_rows', param: '' });
  }
  yield Buffer.from(rows.data.map((row) => JSON.stringify(row)).join('\n'));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ProblemError('invalid_request', 'The body is not valid JSON.', { cause: error });
  }
}
