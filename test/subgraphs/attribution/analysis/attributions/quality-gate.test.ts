import * as fc from 'fast-check';
import type { DataQuality, QualityCheck } from '../../../../../schema/contract/data-quality.ts';
import { QUALITY_CODES, QUALITY_SEVERITIES } from '../../../../../schema/value-lists.ts';
import type { Credit } from '../../../../../subgraphs/attribution/analysis/attributions/compose-figures.ts';
import {
  asSureAsTheRows,
  assertGoodEnough,
  isMisleading,
  qualityRisk,
  refusals,
  refuseBlocking,
} from '../../../../../subgraphs/attribution/analysis/attributions/quality-gate.ts';

const check = (code: QualityCheck['code'], severity: QualityCheck['severity'], value = 0.25): QualityCheck => ({
  code,
  severity,
  value,
  threshold: 0.4,
  amount: 10,
  currency: 'USD',
  message: `${code} is wrong.`,
  remedy: 'Mend it.',
});
const quality = (...checks: readonly QualityCheck[]): DataQuality => ({ status: 'good', checks });
const CREDIT = {
  confidence: 0.8,
  channels: [
    { channel: 'ads', isBaseline: false, confidence: 0.9 },
    { channel: 'direct', isBaseline: true, confidence: 1 },
  ],
} as unknown as Credit;
const confidences = (credit: Credit) => [credit.confidence, ...credit.channels.map(({ confidence }) => confidence)];

test('only what is blocking and not accepted refuses', () => {
  const found = quality(check('user_match_rate', 'blocking'), check('mixed_currencies', 'blocking'));
  expect(refusals(found, ['user_match_rate']).map(({ code }) => code)).toEqual(['mixed_currencies']);
  expect(() => assertGoodEnough(found, ['user_match_rate', 'mixed_currencies'])).not.toThrow();
  expect(() => assertGoodEnough(quality(check('level_shift', 'warning')))).not.toThrow();
  expect(() => assertGoodEnough(undefined)).not.toThrow();
  expect(() => assertGoodEnough(found)).toThrow(
    expect.objectContaining({
      failure: {
        code: 'data_quality_insufficient',
        message:
          'The rows are not good enough for an answer. user_match_rate is wrong. mixed_currencies is wrong. Mend it. ' +
          'To go on all the same, ask again with accept_quality: ["user_match_rate","mixed_currencies"] ' +
          '(acceptQuality: [USER_MATCH_RATE, MIXED_CURRENCIES] in GraphQL).',
      },
    }),
  );
});

test('a refused request is told all that was found', () => {
  const found = quality(check('user_match_rate', 'blocking'), check('level_shift', 'warning'));
  expect(() => refuseBlocking(found)).toThrow(
    expect.objectContaining({
      type: 'validation_error',
      problem: expect.objectContaining({
        status: 422,
        code: 'data_quality_insufficient',
        param: '/data_source_id',
        dataQuality: found.checks,
      }),
    }),
  );
});

test('the risk is half for a warning where money went astray, all for what is blocking, none for the rest', () => {
  for (const code of QUALITY_CODES) {
    const isDecisive = ['order_match_rate', 'user_match_rate', 'rejected_revenue', 'mixed_currencies'].includes(code);
    expect(qualityRisk(quality(check(code, 'warning')))).toBe(isDecisive ? 0.5 : 0);
    expect([qualityRisk(quality(check(code, 'blocking'))), qualityRisk(quality(check(code, 'info')))]).toEqual([1, 0]);
  }
  expect([qualityRisk(undefined), qualityRisk(quality())]).toEqual([0, 0]);
  expect(isMisleading(quality(check('missing_days', 'blocking')))).toBe(true);
  expect(isMisleading(quality(check('order_match_rate', 'warning')))).toBe(false);
});

test('credit is as sure as the part of the money that the rows show', () => {
  expect(confidences(asSureAsTheRows(CREDIT, quality(check('user_match_rate', 'blocking', 0.25))))).toEqual([
    0.2, 0.225, 1,
  ]);
  expect(confidences(asSureAsTheRows(CREDIT, quality(check('rejected_revenue', 'warning', 0.5))))).toEqual([
    0.4, 0.45, 1,
  ]);
  for (const sound of [undefined, quality(), quality(check('level_shift', 'warning', 3))])
    expect(asSureAsTheRows(CREDIT, sound)).toBe(CREDIT);
});

test('no check makes credit surer, whatever was found', () => {
  const found = fc.array(
    fc.record({
      code: fc.constantFrom(...QUALITY_CODES),
      severity: fc.constantFrom(...QUALITY_SEVERITIES),
      value: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  );
  fc.assert(
    fc.property(found, (checks) => {
      const judged = asSureAsTheRows(
        CREDIT,
        quality(...checks.map(({ code, severity, value }) => check(code, severity, value))),
      );
      for (const [index, confidence] of confidences(judged).entries()) {
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(confidences(CREDIT)[index]!);
      }
    }),
  );
});
