import { XLSX } from '../../../subgraphs/attribution/intake/files/reader/source-file.ts';
import { packedWorkbook, sheetOf, workbook } from '../../subgraphs/attribution/intake/files/workbook-files.ts';

export const WORKBOOK = { 'content-type': XLSX };
const HEAD = ['user_id', 'timestamp', 'channel'];
const ROW = ['u1', '2025-06-01 10:00:00', 'email'];
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const SHEET = 'xl/worksheets/sheet1.xml';

export const goodWorkbooks: Readonly<Record<string, Buffer>> = {
  stored: workbook({ rows: [HEAD, ROW, ROW] }),
  packed: packedWorkbook({ rows: [HEAD, ROW, ROW] }),
};
const SMALL = goodWorkbooks['stored']!;

/** A workbook whose sheet is this text, behind the header. */
const withCells = (cells: string): Buffer => withFiles({ [SHEET]: sheetOf(`${sheetRow(1, HEAD)}${cells}`) });
const withFiles = (more: Readonly<Record<string, string>>): Buffer => packedWorkbook({ rows: [HEAD, ROW], more });
const sheetRow = (row: number, texts: readonly string[]): string =>
  `<row r="${row}">${texts.map((text, place) => cell('ABC'[place]! + row, text)).join('')}</row>`;
const cell = (at: string, text: string): string => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;
const manyRows = (rows: number, row: (at: number) => string): string =>
  Array.from({ length: rows }, (_, index) => row(index + 2)).join('');
const timeCell = (value: string): string =>
  `<row r="2">${cell('A2', 'u')}<c r="B2" s="0"><v>${value}</v></c>${cell('C2', 'email')}</row>`;
const DATES = `<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>`;
const styles = (inside: string): string => `<styleSheet xmlns="${MAIN}">${inside}</styleSheet>`;
/** A sheet with this declaration above it, and an entity as its first cell. */
const withEntity = (declared: string, entity: string): Buffer =>
  withFiles({
    [SHEET]: `<!DOCTYPE a [${declared}]>${sheetOf(sheetRow(1, HEAD) + sheetRow(2, [entity, ROW[1]!, ROW[2]!]))}`,
  });
const laughs = Array.from({ length: 20 }, (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`);

/** Workbooks that are each hostile in their own way. */
export const workbookShapes: Readonly<Record<string, () => Buffer>> = {
  'a good workbook': () => SMALL,
  'a workbook twice': () => Buffer.concat([SMALL, SMALL]),
  'one without its end': () => SMALL.subarray(0, -30),
  'an end alone': () => SMALL.subarray(-22),
  'nothing at all': () => Buffer.alloc(0),
  'a cell in the last row and column': () => withCells('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
  'a cell far beyond': () => withCells('<row r="2"><c r="ZZZZZZZ99999999"><v>1</v></c></row>'),
  'rows of negative numbers': () => withCells('<row r="-5"><c r="A-5"><v>1</v></c></row>'),
  'a sheet that is said to have ten billion cells': () =>
    withFiles({
      [SHEET]: sheetOf(sheetRow(1, HEAD) + sheetRow(2, ROW)).replace(
        '<sheetData>',
        '<dimension ref="A1:XFD1048576"/>$&',
      ),
    }),
  'empty cells, half a million': () =>
    withCells(manyRows(250_000, (at) => `<row r="${at}"><c r="A${at}"/><c r="B${at}"/></row>`)),
  'a million merged ranges': () =>
    withFiles({
      [SHEET]: sheetOf(sheetRow(1, HEAD)).replace(
        '</worksheet>',
        `${'<mergeCell ref="A1:XFD9"/>'.repeat(1_000_000)}$&`,
      ),
    }),
  'a million styles': () =>
    withFiles({ 'xl/styles.xml': styles(`<cellXfs>${'<xf numFmtId="22"/>'.repeat(1_000_000)}</cellXfs>`) }),
  'a date format of brackets': () =>
    withFiles({
      'xl/styles.xml':
        `<styleSheet xmlns="${MAIN}"><numFmts><numFmt numFmtId="200" formatCode="${'['.repeat(50_000)}"/></numFmts>` +
        '<cellXfs><xf numFmtId="200" applyNumberFormat="1"/></cellXfs></styleSheet>',
      [SHEET]: sheetOf(sheetRow(1, HEAD) + timeCell('45000')),
    }),
  'shared strings, five million': () =>
    withFiles({ 'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${'<si><t>x</t></si>'.repeat(5_000_000)}</sst>` }),
  'one shared string of a megabyte in each row': () =>
    withFiles({
      'xl/sharedStrings.xml': `<sst xmlns="${MAIN}"><si><t>${'x'.repeat(1_000_000)}</t></si></sst>`,
      [SHEET]: sheetOf(
        sheetRow(1, HEAD) + manyRows(20_000, (at) => `<row r="${at}"><c r="A${at}" t="s"><v>0</v></c></row>`),
      ),
    }),
  'entities of entities': () => withEntity(`<!ENTITY e0 "aaaaaaaaaa">${laughs.join('')}`, '&e20;'),
  'an entity of a file': () => withEntity('<!ENTITY x SYSTEM "file:///etc/passwd">', '&x;'),
  'two million elements inside of each other': () => withCells('<a>'.repeat(2_000_000)),
  'an element of half a million attributes': () => withCells(`<row r="2" ${'x="1" '.repeat(500_000)}></row>`),
  'formulas without a value, and with errors': () =>
    withCells('<row r="2"><c r="A2" t="str"><f>A1</f></c><c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>'),
  ...Object.fromEntries(
    ['-1e10', '1e300', 'NaN', '2958466', '99999999', '1e400', '0'].map((value) => [
      `the time ${value}`,
      () => withFiles({ 'xl/styles.xml': DATES, [SHEET]: sheetOf(sheetRow(1, HEAD) + timeCell(value)) }),
    ]),
  ),
};
