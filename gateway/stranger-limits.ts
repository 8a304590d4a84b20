import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { addressBlock } from '../services/identity/admission/address-block.ts';
import type { Admission } from '../services/identity/admission/admission.ts';
import type { StrangerClass } from '../services/identity/limits/rate-limits.ts';
import type { PublicRequest } from './public-request.ts';
import { rootFields } from './root-fields.ts';

/** Root fields that anyone may ask for and that are limited by address, as their operations are over REST. */
const LIMITED_FIELDS: ReadonlyMap<string, StrangerClass> = new Map([
  ['registerAgent', 'register'],
  ['verifyResult', 'anonymous'],
]);

/**
 * Counts each limited root field, whoever asks.
 * @param document valid and within the limits
 * @throws RateLimitError
 */
export async function limitStrangers(
  admission: Admission,
  publicRequest: PublicRequest,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Promise<void> {
  const { context } = publicRequest;
  for (const { name } of rootFields(document, operation.selectionSet)) {
    const rateClass = LIMITED_FIELDS.get(name.value);
    if (rateClass === undefined) continue;
    try {
      const windows = await admission.countStranger(rateClass, addressBlock(context.origin.clientAddress), context);
      // Who showed a key is told of the windows of that key.
      if (context.principal === null) publicRequest.windows = windows;
    } catch (error) {
      // Apollo Server would answer it without its headers.
      publicRequest.failure = error;
      throw error;
    }
  }
}
