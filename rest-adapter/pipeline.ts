import type { ProblemType } from '../schema/problems.ts';
import type { Call, Step } from './call.ts';
import { parseMediaType } from './media-type.ts';
import type { OperationKind } from './operation.ts';
import { answerTokenRequest } from './steps/answer-token-request.ts';
import { assertScope } from './steps/assert-scope.ts';
import { assignRequestId } from './steps/assign-request-id.ts';
import { awaitInsight } from './steps/await-insight.ts';
import { authenticate } from './steps/authenticate.ts';
import { checkHealth } from './steps/check-health.ts';
import { claimIdempotencyKey } from './steps/claim-idempotency-key.ts';
import { consumeNonce } from './steps/consume-nonce.ts';
import { countRefused } from './steps/count-refused.ts';
import { downloadFile } from './steps/download-file.ts';
import { executeDocument } from './steps/execute-document.ts';
import { followFeed } from './steps/follow-feed.ts';
import { grantWishes } from './steps/grant-sandbox-wishes.ts';
import { holdStream } from './steps/hold-stream.ts';
import { ingestUpload, readRows } from './steps/ingest-upload.ts';
import { limitClients } from './steps/limit-clients.ts';
import { limitStrangers } from './steps/limit-strangers.ts';
import { negotiateMedia } from './steps/negotiate-media.ts';
import { negotiateVersion } from './steps/negotiate-version.ts';
import { readBody } from './steps/read-body.ts';
import { readForm } from './steps/read-form.ts';
import { refuseUnmatched } from './steps/refuse-unmatched.ts';
import { renderFile } from './steps/render-file.ts';
import { reportOauthErrors } from './steps/report-oauth-errors.ts';
import { reportProblems } from './steps/report-problems.ts';
import { respond } from './steps/respond.ts';
import { runJob } from './steps/run-job.ts';
import { streamProgress } from './steps/stream-progress.ts';
import { validateRequest } from './steps/validate-request.ts';

/** The columns: every kind of operation, the forms of OAuth clients, and requests that match no operation. */
type Column = OperationKind | 'oauthForm' | 'unmatched';

const R = 'read';
const I = 'insight';
const W = 'write';
const J = 'job';
const U = 'upload';
const D = 'download';
const S = 'stream';
const F = 'feed';
const PR = 'publicRead';
const PW = 'publicWrite';
const O = 'oauth';
const OF = 'oauthForm';
const X = 'unmatched';

const TABLE: readonly (readonly [Step, ...Column[]])[] = [
  [assignRequestId, R, I, W, J, U, D, S, F, PR, PW, O, OF, X],
  [respond, R, I, W, J, U, D, S, F, PR, PW, O, OF, X], // acts on the way back
  [countRefused, R, I, W, J, U, D, S, F, PW, O, OF, X], // acts on the way back
  [reportProblems, R, I, W, J, U, D, S, F, PR, PW, O, X], // acts on the way back
  [reportOauthErrors, OF], // acts on the way back
  [negotiateVersion, R, I, W, J, U, D, S, F, PR, PW, O, OF, X],
  [refuseUnmatched, X],
  [authenticate, R, I, W, J, U, D, S, F],
  [limitStrangers, PW],
  [assertScope, R, I, W, J, U, D, S, F],
  [grantWishes, R, I, W, J, U, D, S, F],
  // Stock OAuth clients cannot send a nonce.
  [consumeNonce, W, J, U, PW, O],
  // A download's format is asked for by name.
  [negotiateMedia, R, I, W, J, U, S, F, PR, PW, O],
  [readBody, W, J, PW, O],
  [readForm, OF],
  // By client, so that the body comes first.
  [limitClients, O, OF],
  [readRows, U],
  // Its fingerprint needs the body, its replay makes what follows unnecessary.
  [claimIdempotencyKey, W, J, U, PW, O],
  [validateRequest, R, I, W, J, U, D, S, F, PR, PW],
  // Behind the validation, which knows whether a job is asked for as a stream.
  [holdStream, J, S, F],
  [renderFile, R], // acts on the way back
  [executeDocument, R, W, PW],
  [awaitInsight, I],
  [runJob, J],
  [ingestUpload, U],
  [downloadFile, D],
  [streamProgress, S],
  [followFeed, F],
  [checkHealth, PR],
  [answerTokenRequest, O, OF],
];

/** The steps that a kind of operation goes through, in their order. */
export function stepsOf(column: Column): readonly Step[] {
  return TABLE.filter(([, ...columns]) => columns.includes(column)).map(([step]) => step);
}

/** Every problem that the steps of a kind may answer with. */
export function problemsOf(column: Column): readonly ProblemType[] {
  return [...new Set(stepsOf(column).flatMap((step) => step.problems))];
}

const PIPELINES = new Map<Column, (call: Call) => Promise<void>>(
  ([R, I, W, J, U, D, S, F, PR, PW, O, OF, X] as const).map((column) => [column, composed(stepsOf(column))]),
);

/** Takes a request through the steps of its kind. */
export async function runPipeline(call: Call): Promise<void> {
  await PIPELINES.get(columnOf(call))!(call);
}

function columnOf({ route, http }: Call): Column {
  const kind = route.operation?.kind ?? X;
  return kind === O && parseMediaType(http.get('Content-Type')).essence === 'application/x-www-form-urlencoded'
    ? OF
    : kind;
}

function composed(steps: readonly Step[]): (call: Call) => Promise<void> {
  return steps.reduceRight<(call: Call) => Promise<void>>(
    (rest, step) => (call) => step.run(call, () => rest(call)),
    async () => undefined,
  );
}
