import { z } from 'zod';
import type { Noun } from '../schema/contract/noun.ts';
import { queryList } from '../schema/contract/query-list.ts';
import { snakeCase } from '../schema/snake-case.ts';
import type { Json } from './operation.ts';

/* Sections: members that an answer has where `include` names them. */

type Sections = NonNullable<Noun['sections']>;
/** What a caller named, in REST's names; undefined where nothing was said. */
export type Include = readonly string[] | undefined;

/** The sections that can be named; a page, which may be long, has none but those that one object usually comes with. */
export function offeredSections(sections: Sections, isPage = false): string[] {
  return Object.entries(sections)
    .filter(([, isUsual]) => isUsual || !isPage)
    .map(([name]) => snakeCase(name));
}

/** `include=a,b` of a query, also repeated. */
export function includeParameter(sections: Sections, isPage: boolean) {
  const offered = offeredSections(sections, isPage);
  return queryList(z.array(z.enum(offered)), { items: { type: 'string', enum: offered } })
    .optional()
    .meta({ description: 'Sections that the answer has beyond its base; null where the data cannot give one' });
}

/** Which sections a document fetches: those that are named, or the usual ones of an object that is shown whole. */
export function sectionVariables(sections: Sections, include: Include, isWhole: boolean): Json {
  return Object.fromEntries(
    Object.entries(sections).map(([name, isUsual]) => [
      name,
      include?.includes(snakeCase(name)) ?? (isWhole && isUsual),
    ]),
  );
}
