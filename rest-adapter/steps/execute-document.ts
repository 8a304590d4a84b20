import type { Step } from '../call.ts';
import { execute } from '../graph.ts';
import { prefersRepresentation } from '../preferences.ts';

/** Says the operation's document to the graph and shapes the answer. */
export const executeDocument: Step = {
  name: 'execute-document',
  problems: [],
  async run(call) {
    const { operation, request, baseUrl } = call;
    const data = await execute(call, operation.document!, operation.variables(request));
    const { representation } = operation;
    if (representation !== undefined && prefersRepresentation(call.http.get('Prefer'))) {
      call.answer = { status: 200, body: representation.present(data), headers: { 'Preference-Applied': 'return=representation' } };
      return;
    }
    const body = operation.present(data, request, baseUrl);
    const location = body === null ? undefined : operation.location?.(body, request);
    const { status } = operation.lesserSuccess?.applies(data) === true ? operation.lesserSuccess : operation.success;
    call.answer = { status, body, headers: location === undefined ? {} : { Location: `${baseUrl}${location}` } };
  },
};
