import type { Call, Door } from './call.ts';
import type { Json } from './operation.ts';
import { RestShape } from '../schema/rest-shape.ts';
import { encodeVariables } from './variables.ts';

const shapes = new WeakMap<Door['client'], RestShape>();

function shapeOf(client: Door['client']): RestShape {
  let shape = shapes.get(client);
  if (shape === undefined) {
    shape = new RestShape(client.apiSchema);
    shapes.set(client, shape);
  }
  return shape;
}

/** Says a named document to the graph and returns its data as REST writes it. @throws ProblemError */
export async function execute(call: Call, document: string, variables: Json): Promise<Json> {
  const { client } = call.door;
  const node = client.document(document);
  const data = await client.execute(document, encodeVariables(client.apiSchema, node, variables), call.context);
  return shapeOf(client).shape(node, data);
}

/** Subscribes by a named document; every event as REST writes it. */
export function subscribe(call: Call, document: string, variables: Json): AsyncIterableIterator<Json> {
  const { client } = call.door;
  const node = client.document(document);
  const shape = shapeOf(client);
  const upstream = client.subscribe(document, encodeVariables(client.apiSchema, node, variables), call.context);
  return {
    async next() {
      const { done, value } = await upstream.next();
      return done === true ? { done, value: undefined } : { done: false, value: shape.shape(node, value) };
    },
    async return() {
      await upstream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
