import { CSV, readContent } from '../read-content.ts';

/** The bytes of a text, by what the platform reads: all sequences of one and two bytes are tried. */
function encoded(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const bytesOf = new Map<string, number[]>();
  for (let first = 255; first >= 0; first -= 1) {
    for (let second = 255; second >= 0x30; second -= 1) {
      const both = decoder.decode(Uint8Array.of(first, second));
      if (first >= 0x80 && both.length === 1 && both !== '\uFFFD') bytesOf.set(both, [first, second]);
    }
    const one = decoder.decode(Uint8Array.of(first));
    if (one.length === 1 && one !== '\uFFFD') bytesOf.set(one, [first]);
  }
  return Buffer.from([...text].flatMap((letter) => bytesOf.get(letter)!));
}

const touches = (channels: readonly string[]): string =>
  ['user_id,timestamp,channel', ...channels.map((channel, row) => `u${row},2026-01-0${row + 1},${channel}`), ''].join(
    '\n',
  );
const channelsOf = async (content: Buffer, wishes = {}) => {
  const { rows, refusal } = await readContent(content, CSV, wishes);
  return refusal ?? rows.map(({ channel }) => channel);
};

describe('text in the older encodings of its country', () => {
  test.each([
    ['shift_jis', ['検索広告', 'メールマガジン', 'バナー広告']],
    ['euc-jp', ['検索広告', 'メールマガジン', 'バナー広告']],
    ['euc-kr', ['검색광고', '이메일', '배너']],
    ['gb18030', Array.from({ length: 4 }, () => '搜索广告电子邮件横幅广告')],
    ['big5', ['搜尋廣告', '電子郵件', '橫幅廣告']],
    ['windows-1251', ['Контекст', 'Рассылка', 'Баннеры']],
    ['koi8-r', ['Контекст', 'Рассылка', 'Баннеры']],
    ['windows-1250', ['wyświetlenie', 'płatne', 'żółta']],
    ['windows-1250', ['vyhledávání', 'příspěvek', 'účinek']],
    ['windows-1252', ['Suchmaschine für Käufer', 'Größe', 'crédit']],
  ])('%s is told by its letters', async (encoding, channels) => {
    expect(await channelsOf(encoded(touches(channels), encoding))).toEqual(channels);
  });

  test('is asked where it may be several, with what it would say', async () => {
    // Ideographs alone, as Chinese and Japanese both have them.
    const content = encoded(touches(['検索', '広告']), 'euc-jp');
    expect(await channelsOf(content)).toMatchObject({
      code: 'ambiguous_encoding',
      param: '/answers/encoding',
      errors: [{ message: expect.stringMatching(/"euc-jp" \(検索.*"gb18030" \(/u) }],
    });
    expect(await channelsOf(content, { answers: { encoding: 'euc-jp' } })).toEqual(['検索', '広告']);
    expect(await channelsOf(content, { answers: { encoding: 'latin' } })).toMatchObject({ code: 'invalid_answer' });
  });

  test('in the header, and further down than the beginning', async () => {
    const header = encoded('注文番号,user_id,注文日時,合計\nR1,u,2026-01-01,100\n', 'shift_jis');
    const { rows } = await readContent(header, CSV);
    expect(rows).toMatchObject([{ order_id: 'R1', revenue: 100 }]);
    const many = Array.from({ length: 20_000 }, (_, row) => `u${row},2026-01-01,email`).join('\n');
    const late = encoded('\nu,2026-01-02,メール広告\n', 'shift_jis');
    const found = await readContent(Buffer.concat([Buffer.from(`user_id,timestamp,channel\n${many}`), late]), CSV);
    expect(found.rows.at(-1)).toMatchObject({ channel: 'メール広告' });
  });

  test('a wish holds where nothing is open, too', async () => {
    const content = encoded(touches(['Größe']), 'windows-1252');
    expect(await channelsOf(content, { answers: { encoding: 'windows-1250' } })).toEqual(['Größe']);
  });
});
