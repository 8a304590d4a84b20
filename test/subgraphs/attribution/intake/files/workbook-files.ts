import { zipSync } from 'fflate';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** What stands in a workbook of one sheet; `more` are further files. */
export interface Workbook {
  readonly rows: readonly (readonly string[])[];
  readonly more?: Readonly<Record<string, string>>;
}

/** A small workbook as the bytes of its file, nothing packed. */
export const workbook = (of: Workbook): Buffer => archiveOf(of, 0);

/** The same, packed: what a reader gets to see is many times as long. */
export const packedWorkbook = (of: Workbook): Buffer => archiveOf(of, 6);

const archiveOf = ({ rows, more = {} }: Workbook, level: 0 | 6): Buffer =>
  Buffer.from(
    zipSync(
      Object.fromEntries(Object.entries(files({ rows, more })).map(([name, text]) => [name, Buffer.from(text)])),
      { level },
    ),
  );

function files({ rows, more = {} }: Workbook): Readonly<Record<string, string>> {
  return {
    'xl/workbook.xml':
      `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>` +
      '<sheet name="Rows" sheetId="1" r:id="first"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      `<Relationships xmlns="${PACKAGE}">` +
      `<Relationship Id="first" Type="${RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': sheetOf(rows.map(rowText).join('')),
    ...more,
  };
}

/** A sheet with these rows, as XML. */
export const sheetOf = (rows: string): string =>
  `<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`;

const rowText = (cells: readonly string[], index: number): string =>
  `<row r="${index + 1}">${cells
    .map((cell, place) => `<c r="${'ABCDEFGH'[place]}${index + 1}" t="inlineStr"><is><t>${cell}</t></is></c>`)
    .join('')}</row>`;
