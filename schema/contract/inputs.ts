import type { z } from 'zod';
import { newAttribution } from './attribution-request.ts';
import { NOUNS } from './contract.ts';
import { addedRows, inspectedRows } from './ingest.ts';
import { documentOf, isMutation, type Noun, type Row } from './noun.ts';
import { verificationRequest } from './result-verification.ts';

/** A type of the graph that callers fill in, and what REST takes in its place. */
export interface ContractInput {
  readonly schema: z.ZodObject;
  /** Of the problem where it does not fit. */
  readonly badInputStatus: 400 | 422;
}

/** By the name of the graph's type. */
export const INPUTS: ReadonlyMap<string, ContractInput> = new Map([
  ['RunAttributionInput', { schema: newAttribution, badInputStatus: 422 }],
  ['AddRecordsInput', { schema: addedRows, badInputStatus: 422 }],
  ['InspectRecordsInput', { schema: inspectedRows, badInputStatus: 422 }],
  ['VerifyResultInput', { schema: verificationRequest, badInputStatus: 422 }],
  ...NOUNS.flatMap((noun: Noun) => Object.entries(noun.operations).flatMap(([id, row]) => inputsOf(id, row))),
]);

function inputsOf(id: string, row: Row): [string, ContractInput][] {
  const { input, badInputStatus = 422 } = row;
  return input === undefined || !isMutation(row)
    ? []
    : [[`${documentOf(id, row)}Input`, { schema: input, badInputStatus }]];
}
