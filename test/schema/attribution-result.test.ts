import { membersThatApply } from '../../schema/attribution-result.ts';

const CHANNEL = { channel: 'email', is_baseline: false };

test('members that only some results have are absent where nothing is said, as results were signed before them', () => {
  const nothing = {
    id: 'attr_1',
    auto_refresh: false,
    billed: null,
    workspace_id: null,
    data_source_ids: null,
    data_quality: null,
    profitability: null,
    channel_impact: [{ ...CHANNEL, identification: null, spend_response: null, profit: null, profit_roas: null }],
    diagnostics: { journeys: 1, tests: null, stitching: null, customers: null },
  };
  expect(membersThatApply(nothing)).toEqual({
    id: 'attr_1',
    channel_impact: [CHANNEL],
    diagnostics: { journeys: 1 },
  });
});

test('and stand there where something is', () => {
  const whole = {
    auto_refresh: true,
    billed: false,
    workspace_id: 'ws_1',
    data_source_ids: ['ds_1', 'ds_2'],
    data_quality: { status: 'good' },
    profitability: { margin: 0.4 },
    channel_impact: [{ ...CHANNEL, identification: { status: 'point' }, spend_response: { p_value: 0.01 }, profit: 5 }],
    diagnostics: { tests: [], stitching: { pairs: 1 }, customers: { channels: [] } },
  };
  expect(membersThatApply(whole)).toEqual(whole);
});
