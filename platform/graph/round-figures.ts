import {
  defaultFieldResolver,
  getNamedType,
  isIntrospectionType,
  isObjectType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { figureShaper } from '../../schema/shown-figures.ts';

/** Has every figure of a schema answered as REST shows it; resolvers and stores keep them as they are. */
export function roundFigures(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) roundField(type.name, field);
  }
}

function roundField(type: string, field: GraphQLField<unknown, unknown>): void {
  const shape = figureShaper(getNamedType(field.type).name, `${type}.${field.name}`);
  if (shape === null) return;
  const resolve = field.resolve ?? defaultFieldResolver;
  const shown = (value: unknown): unknown => {
    if (value === null || value === undefined) return value;
    return Array.isArray(value) ? value.map(shown) : shape(value);
  };
  field.resolve = (...args) => {
    const value: unknown = resolve(...args);
    return value instanceof Promise ? value.then(shown) : shown(value);
  };
}
