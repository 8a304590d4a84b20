import { z } from 'zod';
import { qualityCheck } from '../../schema/contract/data-quality.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { PROBLEM_TYPES, type ProblemType } from '../../schema/problems.ts';

const problemType = z.enum(Object.keys(PROBLEM_TYPES) as [ProblemType, ...ProblemType[]]);

const detail = z.object({
  param: z.string().meta({ description: 'JSON Pointer into the body, or query:name, header:Name' }),
  code: z.string(),
  message: z.string(),
});

const additional = {
  code: z.string().optional().meta({ description: 'What exactly is wrong, for programs' }),
  param: z.string().optional().meta({ description: 'Where: JSON Pointer into the body, or query:name, header:Name' }),
  errors: z.array(detail).optional().meta({ description: 'Every rejected member' }),
  data_quality: z.array(restForm(qualityCheck)).optional().meta({
    description: 'What is wrong with the rows, where the code is data_quality_insufficient',
  }),
  retry_after: z.int().min(1).optional().meta({ description: 'Seconds to wait, as in Retry-After' }),
};

/** The contract's Error structure (interface specification §2) with its additive members. */
export const errorBody = z
  .object({
    error: z.object({
      type: problemType,
      message: z.string(),
      request_id: z.string(),
      doc_url: z.url(),
      ...additional,
    }),
  })
  .meta({
    id: 'Error',
    description:
      'What every answer outside 2xx carries. Those who prefer application/problem+json (Accept) get the same as ' +
      'RFC 9457 problem details.',
  });

/** The same error as RFC 9457 problem details, sent where `application/problem+json` is preferred. */
export const problemBody = z
  .object({
    type: z.url(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    ...additional,
  })
  .meta({ description: 'The Error as RFC 9457 problem details.' });

/** What forms of OAuth clients are answered with (RFC 6749 §5.2). */
export const oauthErrorBody = z
  .object({ error: z.string(), error_description: z.string(), error_uri: z.url() })
  .meta({ id: 'OauthError', description: 'What a token request in a form is answered with outside 2xx.' });
