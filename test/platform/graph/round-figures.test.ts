import { buildSchema, graphql } from 'graphql';
import { roundFigures } from '../../../platform/graph/round-figures.ts';

const schema = buildSchema(`
  scalar JSON
  type ChannelImpact { channel: String! spend: Float! confidence: Float roi: Float }
  type Attribution { points: [Float]! }
  type TimeSeriesPoint { channels: JSON }
  type Query { impact: ChannelImpact! attribution: Attribution! period: TimeSeriesPoint! notes: JSON }
`);
roundFigures(schema);

const rootValue = {
  impact: { channel: 'a', spend: 1015.1800000000001, confidence: async () => 0.8068612, roi: null },
  attribution: { points: [0.00005, null, 2.000049] },
  period: { channels: { a: 0.126 } },
  notes: { free: 0.1234567 },
};

test('figures are answered with the decimals of the contract, other JSON as it is', async () => {
  const source = '{ impact { channel spend confidence roi } attribution { points } period { channels } notes }';
  const { data } = await graphql({ schema, source, rootValue });
  expect(data).toEqual({
    impact: { channel: 'a', spend: 1015.18, confidence: 0.8069, roi: null },
    attribution: { points: [0.0001, null, 2] },
    period: { channels: { a: 0.13 } },
    notes: { free: 0.1234567 },
  });
});
