import { RefusedFileError } from '../../../../../../subgraphs/attribution/intake/files/reader/refused-file.ts';
import {
  layoutByNames,
  refuseColumns,
  type RecordLayout,
} from '../../../../../../subgraphs/attribution/intake/files/reader/record-layout.ts';

const layoutOf = (header: readonly string[], mapping = {}, constants = {}): RecordLayout =>
  layoutByNames(header, { mapping, constants }) ?? refuseColumns(header, { mapping, constants });
const kindOf = (header: string): string => layoutOf(header.split(',')).kind;

test.each([
  ['user_id,timestamp,channel,campaign,cost', 'touchpoints'],
  ['journey_id,event_id,timestamp,channel,campaign,source,medium,cost,event_type', 'touchpoints'],
  ['order_id,user_id,timestamp,revenue,currency,new_customer', 'conversions'],
  ['order_id,user_id,timestamp,revenue,channel', 'conversions'],
  ['date,channel,campaign,spend,impressions,clicks', 'spend'],
  ['path,conversions,revenue,nulls', 'paths'],
  ['path,total_conversions,total_conversion_value,total_null', 'paths'],
  ['date,path,conversions', 'paths'],
  ['user_id,timestamp,channel,campaign,cost,conversion,revenue', 'events'],
  ['\uFEFFUser ID, Timestamp ,CHANNEL', 'touchpoints'],
])('%s holds %s', (header, kind) => {
  expect(kindOf(header)).toBe(kind);
});

test.each([
  'a,b,c',
  'user_id,channel',
  'path',
  'user_id,timestamp,channel,revenue',
  'path,conversions,user_id,timestamp,channel',
  'timestamp,spend,channel',
])('the columns %s are refused by name, with what each kind would need', (header) => {
  const refusal = (() => {
    try {
      return kindOf(header);
    } catch (error) {
      return error;
    }
  })();
  expect(refusal).toBeInstanceOf(RefusedFileError);
  expect(refusal).toMatchObject({ refusal: { type: 'validation_error', code: 'unrecognised_columns' } });
  const { message } = refusal as RefusedFileError;
  for (const name of header.split(',')) expect(message).toContain(`"${name}"`);
  for (const kind of ['touchpoints', 'conversions', 'spend', 'paths', 'events']) expect(message).toContain(kind);
});

test('a mapping names columns that no alias knows, and wins over aliases', () => {
  const layout = layoutOf(['kunde', 'zeit', 'kanal', 'channel'], {
    user_id: 'kunde',
    timestamp: 'Zeit',
    channel: 'kanal',
  });
  expect(layout.kind).toBe('touchpoints');
  expect(Object.fromEntries(layout.forms[0]!.columns)).toMatchObject({
    user_id: { place: 0 },
    timestamp: { place: 1 },
    channel: { place: 2 },
  });
});

test('a mapping of what does not exist is refused member by member', () => {
  expect(() => layoutOf(['a'], { user_id: 'b', nonsense: 'a' })).toThrow(
    expect.objectContaining({
      refusal: expect.objectContaining({
        code: 'invalid_mapping',
        errors: [
          expect.objectContaining({ param: '/mapping/user_id' }),
          expect.objectContaining({ param: '/mapping/nonsense' }),
        ],
      }),
    }),
  );
});

test.each([
  ['user_id,timestamp,channel,channel', 'channel', '3, 4'],
  ['user_id,Timestamp,channel, timestamp ', 'Timestamp', '2, 4'],
  ['path,conversions,nulls,path', 'path', '1, 4'],
])('%s is refused: %s stands there twice', (header, name, places) => {
  expect(() => kindOf(header)).toThrow(
    expect.objectContaining({
      refusal: expect.objectContaining({ type: 'validation_error', code: 'duplicate_columns' }),
    }),
  );
  expect(() => kindOf(header)).toThrow(`"${name}" more than once (columns ${places})`);
});

test('columns that nobody reads may be repeated, and be blank', () => {
  expect(kindOf('user_id,timestamp,channel,note,note,,')).toBe('touchpoints');
});
