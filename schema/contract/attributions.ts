import { z } from 'zod';
import { cancelledAttribution, exampleAttribution } from './attribution-example.ts';
import { attributionFilter } from './attribution-request.ts';
import { attribution, attributionResult, attributionSections } from './attribution-result.ts';
import { noun } from './noun.ts';
import { idInPath } from './terms.ts';

const named = (graph: string) => z.object({ id: idInPath({ description: 'Analysis, attr_…', graph }) });

/** Analyses. To run one is a job, to watch one a stream, to export one a download: those rows stand with the doors. */
export const attributions = noun({
  one: 'attribution',
  many: 'attributions',
  tag: 'Attribution',
  record: attribution,
  shows: attributionResult,
  sections: attributionSections,
  isEntity: true,
  example: exampleAttribution,
  operations: {
    listAttributions: {
      method: 'GET',
      path: '/attribution',
      kind: 'read',
      action: 'attribution:read',
      field: 'attributions',
      summary: 'List the analyses',
      description:
        'Newest first; items leave out time_series, model_breakdown, comparison and diagnostics unless ' +
        'include names them.',
      graph: 'Analyses of the account, newest first.',
      filter: attributionFilter,
      answer: { page: attribution },
      answered: 'A page of analyses',
    },
    getAttribution: {
      method: 'GET',
      path: '/attribution/{id}',
      kind: 'read',
      action: 'attribution:read',
      field: 'attribution',
      summary: 'Read an analysis',
      description: 'Whole but for campaigns, unless include names the sections that are wanted.',
      graph: 'One analysis. Errors: RESOURCE_NOT_FOUND.',
      named: named('Public id of the analysis.'),
      answer: { one: attribution },
      answered: 'The analysis',
    },
    cancelAttribution: {
      method: 'POST',
      path: '/attribution/{id}/cancel',
      kind: 'write',
      action: 'attribution:run',
      summary: 'Cancel an analysis',
      description:
        'One that waits never begins, one that is computed stops soon; its streams end with error. It fails with ' +
        'the code cancelled, and nothing is billed. Cancelling again changes nothing; an analysis that has ended by ' +
        'itself is answered with conflict, code already_finished.',
      graph:
        'Ends an analysis that has not ended by itself: it fails with CANCELLED, and nothing is billed. Repeating it ' +
        'changes nothing. Errors: RESOURCE_NOT_FOUND, CONFLICT (already_finished).',
      named: named('Public id of an analysis that has not ended.').meta({ graph: 'The analysis to cancel.' }),
      answer: {
        one: attribution,
        payload: {
          description: 'The analysis that was cancelled.',
          member: 'FAILED, with the failure code CANCELLED.',
          trust: 'Trust envelope of the analysis.',
        },
      },
      status: 200,
      answered: 'The analysis, failed',
      problems: ['conflict'],
      example: { response: cancelledAttribution },
    },
    deleteAttribution: {
      method: 'DELETE',
      path: '/attribution/{id}',
      kind: 'write',
      action: 'attribution:delete',
      summary: 'Delete an analysis',
      description:
        'Its figures, progress and signature go at once; later calls answer 404. What was billed for it stays on ' +
        'record. One that is under way is answered with conflict, code not_finished: cancel it first.',
      graph:
        'Deletes an analysis with its figures; what was billed stays on record. Errors: RESOURCE_NOT_FOUND, CONFLICT ' +
        '(not_finished).',
      named: named('Public id of an analysis that has ended.').meta({ graph: 'The analysis to delete.' }),
      answer: {
        gone: attribution,
        description: 'The analysis that was deleted.',
        id: 'Public id of the analysis that is gone.',
      },
      answered: 'It is gone',
      problems: ['conflict'],
    },
  },
});
