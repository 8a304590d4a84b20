/** The values of a GraphQL enum: upper case in the graph, as the domain writes them in the code. */
export function enumOf<Value extends string>(values: readonly Value[]): Readonly<Record<string, Value>> {
  return Object.fromEntries(values.map((value) => [value.toUpperCase(), value]));
}
