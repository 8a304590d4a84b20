import { ProblemError } from '../../schema/problems.ts';
import type { Call, Step } from '../call.ts';
import { preferredType } from '../media-type.ts';
import { renderedType } from './render-file.ts';

/** Refuses clients that accept nothing of what the operation can answer with. */
export const negotiateMedia: Step = {
  name: 'negotiate-media',
  problems: ['not_acceptable'],
  async run(call, next) {
    const offered = answersEvents(call)
      ? ['text/event-stream']
      : ['application/json', 'application/problem+json', ...renderedType(call)];
    if (preferredType(call.http, ...offered) === undefined)
      throw new ProblemError('not_acceptable', `This operation answers ${offered[0]}.`, { param: 'header:Accept' });
    await next();
  },
};

function answersEvents({ operation, http }: Call): boolean {
  return (
    operation.kind === 'stream' ||
    operation.kind === 'feed' ||
    (operation.kind === 'job' && http.query['stream'] === 'true')
  );
}
