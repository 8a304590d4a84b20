import { attributions } from '../../schema/contract/attributions.ts';
import { attributionResult as contractResult } from '../../schema/contract/attribution-result.ts';
import { restForm } from '../../schema/contract/rest-form.ts';
import { membersThatApply } from '../../schema/attribution-result.ts';
import { inOrder } from '../members.ts';
import type { Json } from '../operation.ts';
import { exampleTrust } from './trust-envelope.ts';

/** An analysis; the order of the members is the order in the body. */
export const attributionResult = restForm(contractResult);

/** An analysis with its members in the contract's order. */
export function presentAttribution(shaped: Json): Json {
  return inOrder(attributionResult, membersThatApply(shaped));
}

/** A completed analysis for the documentation. */
export const exampleAttribution: Json = { ...attributions.example, trust: exampleTrust(1) };
