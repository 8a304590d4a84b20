/** The figure of one name; null where there is none. Names are anybody's, such as those of members of every object. */
export const figureOf = (figures: Readonly<Record<string, number | null>>, name: string): number | null =>
  Object.hasOwn(figures, name) ? figures[name]! : null;
