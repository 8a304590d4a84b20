import type { ProblemType } from '../schema/problems.ts';
import type { Call, Step } from './call.ts';
import type { OperationKind } from './operation.ts';
import { assertScope } from './steps/assert-scope.ts';
import { assignRequestId } from './steps/assign-request-id.ts';
import { authenticate } from './steps/authenticate.ts';
import { checkHealth } from './steps/check-health.ts';
import { consumeNonce } from './steps/consume-nonce.ts';
import { downloadFile } from './steps/download-file.ts';
import { executeDocument } from './steps/execute-document.ts';
import { grantWishes } from './steps/grant-sandbox-wishes.ts';
import { ingestUpload } from './steps/ingest-upload.ts';
import { limitStrangers } from './steps/limit-strangers.ts';
import { negotiateMedia } from './steps/negotiate-media.ts';
import { negotiateVersion } from './steps/negotiate-version.ts';
import { readBody } from './steps/read-body.ts';
import { refuseUnmatched } from './steps/refuse-unmatched.ts';
import { reportProblems } from './steps/report-problems.ts';
import { respond } from './steps/respond.ts';
import { runJob } from './steps/run-job.ts';
import { streamProgress } from './steps/stream-progress.ts';
import { validateRequest } from './steps/validate-request.ts';

/** The columns: every kind of operation, and requests that match no operation. */
type Column = OperationKind | 'unmatched';

const R = 'read';
const W = 'write';
const J = 'job';
const U = 'upload';
const D = 'download';
const S = 'stream';
const PR = 'publicRead';
const PW = 'publicWrite';
const X = 'unmatched';

const TABLE: readonly (readonly [Step, ...Column[]])[] = [
  [assignRequestId,  R, W, J, U, D, S, PR, PW, X],
  [respond,          R, W, J, U, D, S, PR, PW, X], // acts on the way back
  [reportProblems,   R, W, J, U, D, S, PR, PW, X], // acts on the way back
  [negotiateVersion, R, W, J, U, D, S, PR, PW, X],
  [refuseUnmatched,                            X],
  [authenticate,     R, W, J, U, D, S           ],
  [limitStrangers,                          PW  ],
  [assertScope,      R, W, J, U, D, S           ],
  [grantWishes,      R, W, J, U, D, S           ],
  [consumeNonce,        W, J, U,            PW  ],
  // A download's format is asked for by name.
  [negotiateMedia,   R, W, J, U,    S, PR, PW   ],
  [readBody,            W, J,               PW  ],
  // Idempotency belongs here: its fingerprint needs the body, its replay makes what follows unnecessary.
  [validateRequest,  R, W, J, U, D, S, PR, PW   ],
  [executeDocument,  R, W,                  PW  ],
  [runJob,                 J                    ],
  [ingestUpload,              U                 ],
  [downloadFile,                 D              ],
  [streamProgress,                  S           ],
  [checkHealth,                        PR       ],
];

/** The steps that a kind of operation goes through, in their order. */
export function stepsOf(column: Column): readonly Step[] {
  return TABLE.filter(([, ...columns]) => columns.includes(column)).map(([step]) => step);
}

/** Every problem that the steps of a kind may answer with. */
export function problemsOf(column: Column): readonly ProblemType[] {
  return [...new Set(stepsOf(column).flatMap((step) => step.problems))];
}

const PIPELINES = new Map<Column, (call: Call) => Promise<void>>(([R, W, J, U, D, S, PR, PW, X] as const).map((column) => [column, composed(stepsOf(column))]));

/** Takes a request through the steps of its kind. */
export async function runPipeline(call: Call): Promise<void> {
  await PIPELINES.get(call.route.operation?.kind ?? X)!(call);
}

function composed(steps: readonly Step[]): (call: Call) => Promise<void> {
  return steps.reduceRight<(call: Call) => Promise<void>>((rest, step) => (call) => step.run(call, () => rest(call)), async () => undefined);
}
