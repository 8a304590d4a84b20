import type { z } from 'zod';
import { csvCredentials } from '../../../../../schema/contract/source-requests.ts';
import { ProblemError } from '../../../../../schema/problems.ts';
import type { ReceivingConnector } from '../connector.ts';

/** Files that are sent: inline as `credentials.content`, or later as uploads. */
export const csvUpload: ReceivingConnector<z.output<typeof csvCredentials>> = {
  type: 'csv_upload',
  title: 'CSV upload',
  credentials: csvCredentials,
  read({ filename, content, encoding, delimiter, mapping }) {
    return {
      name: filename ?? null,
      delimiter: delimiter === undefined || delimiter === 'auto' ? null : delimiter,
      mapping: mapping ?? null,
      rows: content === undefined ? null : decode(content, encoding),
    };
  },
};

function decode(content: string, encoding: 'utf-8' | 'base64' = 'utf-8'): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content, 'utf8');
  // Without its white space first: an expression that allows for it in two places takes hours to refuse a long text.
  const text = content.replaceAll(/\s{1,1000}/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new ProblemError('validation_error', 'credentials.content: this is not base64.', {
      code: 'invalid_encoding',
      param: '/credentials/content',
    });
  }
  return Buffer.from(text, 'base64');
}
