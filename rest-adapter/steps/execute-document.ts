import type { Answer, Call, Step } from '../call.ts';
import { execute } from '../graph.ts';
import { prefersRepresentation } from '../preferences.ts';

/** Says the operation's document to the graph and shapes the answer. */
export const executeDocument: Step = {
  name: 'execute-document',
  problems: [],
  async run(call) {
    // What reads for one reads for all who ask the same as the same at the same time.
    call.answer = await (call.operation.method === 'GET'
      ? call.door.reads.join(sameness(call), call).answer
      : documentAnswer(call));
  },
};

/** What the graph says to a call, as the answer to it. */
export async function documentAnswer(call: Call): Promise<Answer> {
  const { operation, request, baseUrl } = call;
  const data = await execute(call, operation.document!, operation.variables(request));
  const { representation } = operation;
  if (representation !== undefined && prefersRepresentation(call.http.get('Prefer'))) {
    return {
      status: 200,
      body: representation.present(data),
      headers: { 'Preference-Applied': 'return=representation' },
    };
  }
  const body = operation.present(data, request, baseUrl);
  const location = body === null ? undefined : operation.location?.(body, request);
  const { status } = operation.lesserSuccess?.applies(data) === true ? operation.lesserSuccess : operation.success;
  return { status, body, headers: location === undefined ? {} : { Location: `${baseUrl}${location}` } };
}

/** All that an answer depends on, but for what is stored. */
function sameness({ operation, request, baseUrl, apiVersion, principal, sandboxDelayMs, http }: Call): string {
  return JSON.stringify([operation.id, request, baseUrl, apiVersion, principal, sandboxDelayMs, http.get('Prefer')]);
}
