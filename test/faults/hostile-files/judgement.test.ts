import { hostileCase, shapesOf, type HostileCase } from './cases.ts';
import { faultOf, HANG_MS, type HostileAnswer } from './judgement.ts';
import { FORMATS } from './shapes.ts';

const FILE: HostileCase = { format: 'csv', index: 0, how: 'a file', headers: {}, body: Buffer.from('a'), rows: 3 };
const GRAPH: HostileCase = { ...FILE, format: 'graphql', door: 'graphql' };
const reject = { line: 2, column: 'timestamp', code: 'missing_value', message: 'the cell is empty' };
const masked = { message: 'An unexpected error occurred.', extensions: { code: 'INTERNAL_ERROR' } };
const error = {
  type: 'validation_error',
  message: 'The file cannot be read as Parquet.',
  request_id: 'req_1',
  doc_url: 'https://api.example/docs/errors/validation_error',
  errors: [{ param: '', code: 'unreadable_file', message: 'The footer is damaged.' }],
};

function answer(status: number, body: unknown, elapsedMs = 10): HostileAnswer {
  return { status, requestId: 'req_1', text: typeof body === 'string' ? body : JSON.stringify(body), elapsedMs };
}

describe('the judge of hostile files', () => {
  test.each([
    ['counts that add up', FILE, answer(202, { accepted: 1, rejected: 2, errors: [reject] })],
    ['a refusal that names what is wrong', FILE, answer(422, { error })],
    ['rows over GraphQL', GRAPH, answer(200, { data: { addRecords: { ingest: { accepted: 3, rejected: 0 } } } })],
  ])('is content with %s', (_what, hostile, given) => {
    expect(faultOf(hostile, given)).toBeNull();
  });

  test.each([
    ['a failure', FILE, answer(500, { error }), /^500/],
    ['an outage', FILE, answer(503, { error }), /^503/],
    ['what took too long', FILE, answer(202, { accepted: 3, rejected: 0, errors: [] }, HANG_MS + 1), /^took/],
    ['counts that do not add up', FILE, answer(202, { accepted: 1, rejected: 1, errors: [reject] }), /of 3 rows/],
    ['rejects without a reason', FILE, answer(202, { accepted: 1, rejected: 2, errors: [] }), /none is named/],
    ['a negative count', FILE, answer(202, { accepted: -1, rejected: 4, errors: [reject] }), /structure/],
    ['no structure', FILE, answer(422, { message: 'no' }), /without the structure/],
    ['what is no JSON', FILE, answer(422, '<html>'), /without the structure/],
    ['a refusal that names nothing', FILE, answer(422, { error: { ...error, errors: [] } }), /names nothing/],
    ['a refusal that says nothing', FILE, answer(400, { error: { ...error, message: 'Bad' } }), /says only/],
    ['another request_id', FILE, answer(400, { error: { ...error, request_id: 'req_2' } }), /request_id/],
    ['a refusal that is not about the file', FILE, answer(429, { error }), /^429 .* for a file/],
    ['words of the engine', FILE, answer(422, { error: { ...error, message: 'DB::Exception: no' } }), /^leaks/],
    ['a masked error over GraphQL', GRAPH, answer(200, { errors: [masked] }), /INTERNAL/],
    ['nothing over GraphQL', GRAPH, answer(200, {}), /neither/],
  ])('catches %s', (_what, hostile, given, fault) => {
    expect(faultOf(hostile, given)).toMatch(fault);
  });
});

test.each(FORMATS)('cases of %s are the same for the same seed, and others for another', (format) => {
  const first = shapesOf(format);
  const bodyOf = (seed: number, place: number) => hostileCase(format, seed, first + place).body.toString('latin1');
  const bodies = (seed: number) => Array.from({ length: 10 }, (_, place) => bodyOf(seed, place));
  expect(bodies(1)).toEqual(bodies(1));
  expect(bodies(1)).not.toEqual(bodies(2));
  expect(new Set(bodies(1)).size).toBeGreaterThan(5);
});
