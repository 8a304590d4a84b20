/** What months are called in exports, in English, German, French, Spanish, Italian, Portuguese and Dutch. */
const NAMES: readonly (readonly string[])[] = [
  [
    'january',
    'jan',
    'januar',
    'jän',
    'jänner',
    'janvier',
    'janv',
    'enero',
    'ene',
    'gennaio',
    'gen',
    'janeiro',
    'januari',
  ],
  ['february', 'feb', 'februar', 'février', 'févr', 'fév', 'febrero', 'febbraio', 'fevereiro', 'fev', 'februari'],
  ['march', 'mar', 'märz', 'mär', 'mrz', 'mars', 'marzo', 'março', 'maart', 'mrt'],
  ['april', 'apr', 'avril', 'avr', 'abril', 'abr', 'aprile'],
  ['may', 'mai', 'mayo', 'maggio', 'mag', 'maio', 'mei'],
  ['june', 'jun', 'juni', 'juin', 'junio', 'giugno', 'giu', 'junho'],
  ['july', 'jul', 'juli', 'juillet', 'juil', 'julio', 'luglio', 'lug', 'julho'],
  ['august', 'aug', 'août', 'aout', 'agosto', 'ago', 'augustus'],
  ['september', 'sep', 'sept', 'septembre', 'septiembre', 'settembre', 'set', 'setembro'],
  ['october', 'oct', 'oktober', 'okt', 'octobre', 'octubre', 'ottobre', 'ott', 'outubro', 'out'],
  ['november', 'nov', 'novembre', 'noviembre', 'novembro'],
  ['december', 'dec', 'dezember', 'dez', 'décembre', 'déc', 'diciembre', 'dic', 'dicembre', 'dezembro', 'december'],
];

/** The number of a month by its name in lower case. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  NAMES.flatMap((names, index) => names.map((name) => [name, index + 1] as const)),
);
