import { didYouMean } from '../../schema/unknown-members.ts';

test.each([
  ['brand_id', ['agent_id', 'date_range'], ''],
  ['sales', ['date', 'spend'], ''],
  ['tmezone', ['timezone'], '; did you mean timezone?'],
  ['revneue', ['spend', 'revenue'], '; did you mean revenue?'],
  ['data_suorce_id', ['dataSourceId'], '; did you mean dataSourceId?'],
  ['chanel', ['channel', 'campaign'], '; did you mean channel?'],
  ['colour', ['color'], '; did you mean color?'],
  ['ids', ['id'], '; did you mean id?'],
])('"%s" among %p', (given, known, wanted) => {
  expect(didYouMean(given, known)).toBe(wanted);
});
