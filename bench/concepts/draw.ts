/** Draws the pictures of docs/concepts anew from what the models answer: `npm run bench concepts/draw` */
import { writeFileSync } from 'node:fs';
import { everyPicture } from './every-picture.ts';

for (const [name, svg] of Object.entries(everyPicture())) {
  writeFileSync(new URL(`../../docs/concepts/pictures/${name}.svg`, import.meta.url), svg);
  process.stdout.write(`docs/concepts/pictures/${name}.svg\n`);
}
