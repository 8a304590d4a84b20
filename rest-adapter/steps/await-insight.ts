import { setTimeout as sleep } from 'node:timers/promises';
import { credentialEnded } from '../../services/identity/keys/credential-standing.ts';
import type { Call, Step } from '../call.ts';
import { waitPreference } from '../preferences.ts';
import { documentAnswer } from './execute-document.ts';

/** Between two looks at whether what an answer needs has been computed: soon at first, then as a run may take. */
const LOOKS_MS = { first: 100, growth: 1.5, longest: 1_000 } as const;
/** What a client that got an unfinished answer should wait before it asks again. */
const ASK_AFTER_S = 2;

/**
 * Answers a read that may need a run first: the question begins one where there is none, and asking again finds what
 * came of it. Waits as `Prefer` says; what is unfinished then is 202, and `Location` is the question itself.
 */
export const awaitInsight: Step = {
  name: 'await-insight',
  problems: [],
  async run(call) {
    const { waitS, applied } = waitPreference((call.request.headers as { prefer?: string }).prefer);
    const over = new AbortController();
    const giveUp = (): void => over.abort();
    const timer = setTimeout(giveUp, waitS * 1000);
    const ended = new AbortController();
    const forget = call.whenEnded(() => ended.abort());
    const signal = AbortSignal.any([over.signal, ended.signal, call.door.closing]);
    call.http.res.once('close', giveUp);
    // Whoever left meanwhile does not leave again.
    if (waitS === 0 || call.http.res.destroyed) giveUp();
    try {
      let answer = await documentAnswer(call);
      for (
        let pauseMs: number = LOOKS_MS.first;
        isUnfinished(answer) && (await pausedFor(pauseMs, signal));
        pauseMs = Math.min(pauseMs * LOOKS_MS.growth, LOOKS_MS.longest)
      )
        answer = await documentAnswer(call);
      if (ended.signal.aborted) throw credentialEnded();
      call.answer = {
        ...answer,
        headers: {
          ...answer.headers,
          ...(applied === null ? {} : { 'Preference-Applied': applied }),
          ...(isUnfinished(answer) ? { Location: questionOf(call), 'Retry-After': String(ASK_AFTER_S) } : {}),
        },
      };
    } finally {
      clearTimeout(timer);
      forget();
      call.http.res.off('close', giveUp);
    }
  },
};

const isUnfinished = ({ status }: { readonly status: number }): boolean => status === 202;

/** False when there is nothing to wait for any more. */
async function pausedFor(ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal }).catch(() => false);
}

/** The address that was asked, as clients see it. */
function questionOf({ baseUrl, operation, http }: Call): string {
  return `${baseUrl}${operation.path}${http.search}`;
}
