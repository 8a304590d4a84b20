import { z } from 'zod';
import { documentsOf, selectionOf } from '../../../schema/contract/documents.ts';
import { noun } from '../../../schema/contract/noun.ts';
import { restForm } from '../../../schema/contract/rest-form.ts';
import { id } from '../../../schema/contract/terms.ts';
import { trustEnvelope } from '../../../schema/contract/trust-envelope.ts';

const part = z.object({
  firstInBoth: z.string(),
  lastInRest: z.number().meta({ restAfter: 'hidden' }),
  inBetween: z.number(),
  hidden: z.boolean().optional().meta({ onlyInRest: true }),
});

const record = z
  .object({ id: id('attr'), parts: z.array(part).nullable(), trust: trustEnvelope.nullable() })
  .meta({ id: 'Thing' });

const things = noun({
  one: 'thing',
  many: 'things',
  tag: 'Things',
  record,
  sections: { parts: true },
  example: {},
  operations: {
    listThings: {
      method: 'GET',
      path: '/things',
      kind: 'read',
      action: 'thing:read',
      field: 'things',
      summary: '',
      description: '',
      graph: '',
      answered: '',
      answer: { page: record },
    },
    getThing: {
      method: 'GET',
      path: '/things/{id}',
      kind: 'read',
      action: 'thing:read',
      field: 'thing',
      summary: '',
      description: '',
      graph: '',
      answered: '',
      answer: { one: record },
    },
  },
});

describe('documents of the contract', () => {
  test('ask for members in REST’s order, and not for those that only REST has', () => {
    expect(selectionOf(part)).toBe('{ firstInBoth inBetween lastInRest }');
    expect(Object.keys(restForm(part).shape)).toEqual(['first_in_both', 'in_between', 'hidden', 'last_in_rest']);
  });

  test('fetch sections where a variable says so: one object has them, a page has not', () => {
    const [, fragment, list, one] = documentsOf(things).split('\n');
    expect(fragment).toContain('parts @include(if: $parts) { firstInBoth');
    expect(list).toContain('$parts: Boolean = false');
    expect(one).toContain('$parts: Boolean = true');
  });

  test('ask once for an envelope that is a member of the record', () => {
    const [, fragment, list, one] = documentsOf(things).split('\n');
    expect(fragment).toContain('trust { ...Trust }');
    expect(list).toContain('totalCount trust { ...Trust }');
    expect(one).not.toContain('trust');
  });
});
