import { credentialEnded } from '../services/identity/keys/credential-standing.ts';
import type { Call } from './call.ts';
import { interruptible } from './interruptible.ts';

/**
 * Chunks on their way in or out, for as long as the credential lasts that was shown for them: a transfer may take
 * hours, and revocation is immediate (contract §5.7).
 * @throws ProblemError `expired_api_key` within two seconds of its end
 */
export async function* whileAdmitted<T>(call: Call, chunks: AsyncIterable<T>): AsyncGenerator<T> {
  const over = new AbortController();
  const forget = call.whenEnded(() => over.abort());
  try {
    yield* interruptible(chunks[Symbol.asyncIterator](), over.signal, (error) =>
      call.logger.debug({ err: error }, 'the source of a transfer could not be closed'),
    );
    if (over.signal.aborted) throw credentialEnded();
  } finally {
    forget();
  }
}
