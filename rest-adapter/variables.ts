import {
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  typeFromAST,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import type { Json } from './operation.ts';

/**
 * Writes enum values of the contract (`csv_upload`) as the graph names them (`CSV_UPLOAD`), wherever the schema
 * says that a variable of the document holds one, and leaves out what is undefined.
 */
export function encodeVariables(schema: GraphQLSchema, document: DocumentNode, variables: Json): Json {
  const operation = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const encoded: Json = {};
  for (const definition of operation?.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type as never) as GraphQLInputType | undefined;
    const value = variables[name];
    if (value !== undefined && type !== undefined) encoded[name] = encode(type, value);
  }
  return encoded;
}

function encode(type: GraphQLInputType, value: unknown): unknown {
  if (isNonNullType(type)) return encode(type.ofType, value);
  if (value === null) return null;
  if (isListType(type))
    return Array.isArray(value) ? value.map((item) => encode(type.ofType, item)) : encode(type.ofType, value);
  if (isEnumType(type)) return String(value).toUpperCase();
  if (!isInputObjectType(type)) return value;
  const fields = type.getFields();
  return Object.fromEntries(
    Object.entries(value as Json)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, fields[name] === undefined ? member : encode(fields[name].type, member)]),
  );
}
