import { z } from 'zod';
import { QUALITY_CODES, QUALITY_SEVERITIES, QUALITY_STATUSES } from '../value-lists.ts';
import type { Frozen } from './frozen.ts';
import { noun } from './noun.ts';
import { queryList } from './query-list.ts';
import { graphTypes, idInPath, inRest, money } from './terms.ts';

/* What is wrong with the rows of a source, with how much money, and what to do about it. */

export const qualityCode = z.enum(QUALITY_CODES).register(graphTypes, {
  name: 'DataQualityCode',
  description: 'What was looked at in the rows of a source.',
});
const severity = z.enum(QUALITY_SEVERITIES).register(graphTypes, {
  name: 'DataQualitySeverity',
  description:
    'INFO says what is so, WARNING that figures are less sure for it, BLOCKING that there are none unless it is ' +
    'accepted.',
});
const status = z.enum(QUALITY_STATUSES).register(graphTypes, {
  name: 'DataQualityStatus',
  description: 'The worst severity among the checks; GOOD where that is INFO.',
});

const accepted = () => z.array(qualityCode).max(QUALITY_CODES.length);
const saidOfAccepted = {
  description:
    'Codes of data_quality that are known and accepted: blocking checks of others refuse the request ' +
    '(data_quality_insufficient)',
  graph:
    'Codes of data quality that are known and accepted: BLOCKING checks of others refuse the request ' +
    '(data_quality_insufficient).',
};
/** What may be wrong with the rows, by whoever asks. */
export const acceptedQuality = accepted().optional().meta(saidOfAccepted);
/** The same in a query string. */
export const acceptedQualityInQuery = inRest(
  queryList(accepted(), { items: { type: 'string', enum: [...QUALITY_CODES] }, maxItems: QUALITY_CODES.length }),
  accepted(),
)
  .optional()
  .meta(saidOfAccepted);

export const qualityCheck = z
  .object({
    code: qualityCode.meta({ graph: 'What was found.' }),
    severity: severity.meta({ graph: 'How bad it is.' }),
    value: z.number().meta({ description: 'What was measured, mostly a share in [0, 1]', graph: 'What was measured.' }),
    threshold: z.number().meta({ graph: 'The limit that the value has crossed.' }),
    amount: money.nullable().meta({
      description: 'Money concerned, major units; null where nobody can tell',
      graph: 'Money concerned, major units; null where nobody can tell.',
    }),
    currency: z.string().nullable().meta({ graph: 'ISO 4217 currency of the amount; null without one.' }),
    message: z.string().meta({ graph: 'What is wrong with which sum of money, for people.' }),
    remedy: z.string().meta({ graph: 'What to do about it.' }),
  })
  .meta({ id: 'DataQualityCheck', graph: 'One thing that the rows of a source lack.' });

const checks = z.array(qualityCheck).meta({
  description: 'What was found, the worst first; empty where nothing was',
  graph: 'What was found, the worst first; empty where nothing was.',
});
const members = {
  status: status.meta({ graph: 'The worst severity among the checks.' }),
  checks,
};

/** How good the rows were that an estimate rests on. */
export const dataQuality = z
  .object(members)
  .meta({ id: 'DataQuality', graph: 'How good the rows are that figures rest on.' });

/** What a measurement of rows says; amounts in major units. */
export type DataQuality = Frozen<z.output<typeof dataQuality>>;
export type QualityCheck = DataQuality['checks'][number];
export type QualityCode = QualityCheck['code'];

const sourceQuality = z
  .object(members)
  .meta({ id: 'DataSourceQualityReport', graph: 'How good the rows of a source are.' });

export const exampleQuality = {
  status: 'warning',
  checks: [
    {
      code: 'spend_without_touches',
      severity: 'warning',
      value: 0.1204,
      threshold: 0.05,
      amount: 4_210.29,
      currency: 'USD',
      message:
        '12 % of the spend, 4,210.29 USD, is on channels that no touch names: Facebook (4,210.29). What it brings ' +
        'cannot be told.',
      remedy:
        'Call them as the touches do, in the file or by a channel rule: {"match": {"channel": "Facebook"}, ' +
        '"channel": "meta_ads"}.',
    },
  ],
} as const;

export const dataQualities = noun({
  one: 'dataQuality',
  many: 'data-quality',
  tag: 'Data sources',
  record: sourceQuality,
  example: exampleQuality,
  operations: {
    getDataQuality: {
      method: 'GET',
      path: '/data-sources/{id}/quality',
      kind: 'read',
      action: 'dataSource:read',
      field: 'dataQuality',
      summary: 'Read how good the rows of a data source are',
      description:
        'Measured now, over the newest 366 days that the source has rows of. An analysis measures the days of its ' +
        'own range, and says the same in data_quality. What is blocking there refuses it unless accept_quality names ' +
        'the code.',
      graph:
        'How good the rows of a source are, over the newest 366 days that it has rows of. Errors: ' +
        'RESOURCE_NOT_FOUND, DATA_SOURCE_UNAVAILABLE (no rows yet).',
      named: z.object({
        dataSourceId: idInPath({ rest: 'id', description: 'Data source, ds_…', graph: 'Public id of the source.' }),
      }),
      answer: { one: sourceQuality },
      answered: 'What was found',
      problems: ['data_source_unavailable'],
      example: { path: { id: 'ds_01JQ2kZr5uHn4GdPaLxWqB' } },
    },
  },
});
