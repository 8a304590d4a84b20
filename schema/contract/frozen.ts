/** A value that nobody may change, with all that it consists of. */
export type Frozen<Value> = Value extends Date
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;
