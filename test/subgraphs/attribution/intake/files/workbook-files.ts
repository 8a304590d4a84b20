import { deflateRawSync } from 'node:zlib';
import { zipped } from '../../../../../subgraphs/attribution/intake/files/reader/zip-files.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const LOCAL_METHOD = 8;
const CENTRAL_METHOD = 10;
const CENTRAL_AT = 42;
const DEFLATED = 8;

/** What stands in a workbook of one sheet; `more` are further files. */
export interface Workbook {
  readonly rows: readonly (readonly string[])[];
  readonly more?: Readonly<Record<string, string>>;
}

/** A small workbook as the bytes of its file, nothing packed. */
export function workbook({ rows, more = {} }: Workbook): Buffer {
  return Buffer.from(zipped(new Map(Object.entries(files({ rows, more })).map(([name, text]) => [name, bytes(text)]))));
}

/** The same, packed: what a reader gets to see is many times as long. */
export function packedWorkbook(of: Workbook): Buffer {
  const packed = new Map(Object.entries(files(of)).map(([name, text]) => [name, deflateRawSync(bytes(text))]));
  const archive = Buffer.from(zipped(packed));
  let at = archive.readUInt32LE(archive.length - 6);
  for (const _ of packed) {
    archive.writeUInt16LE(DEFLATED, at + CENTRAL_METHOD);
    archive.writeUInt16LE(DEFLATED, archive.readUInt32LE(at + CENTRAL_AT) + LOCAL_METHOD);
    at += 46 + archive.readUInt16LE(at + 28);
  }
  return archive;
}

const bytes = (text: string): Buffer => Buffer.from(text);

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
