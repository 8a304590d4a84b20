import { rejectedRow } from './rejected-row.ts';
import { noun } from './noun.ts';
import { EXAMPLE_SOURCE, namedSource } from './data-sources.ts';

export const rejects = noun({
  one: 'rejected row',
  many: 'rejects',
  tag: 'Data sources',
  record: rejectedRow,
  withoutTrust: true,
  example: {
    upload_id: 'upload_01JQ2kf0R3bVnTqWsXyZaC',
    line: 17,
    column: 'timestamp',
    code: 'not_a_date',
    message: '"yesterday" is not a date or time',
  },
  operations: {
    listRejects: {
      method: 'GET',
      path: '/data-sources/{id}/rejects',
      kind: 'read',
      action: 'dataSource:read',
      field: 'dataSourceRejects',
      summary: 'List the rows that were not stored',
      description: 'The newest upload first, its rows in the order of their lines; with line, column and reason.',
      graph:
        'Rows that were not taken: the newest upload first, its rows in the order of their lines. Errors: ' +
        'RESOURCE_NOT_FOUND.',
      named: namedSource,
      answer: { page: rejectedRow },
      answered: 'A page of rejected rows',
      example: { path: { id: EXAMPLE_SOURCE } },
    },
  },
});
