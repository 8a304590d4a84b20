import fc from 'fast-check';
import { KeptTexts } from '../../../platform/graph/kept-texts.ts';

test('what is kept never has more characters than may be, and is what was made last', () => {
  const step = fc.record({
    name: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'),
    made: fc.nat(),
  });
  const sized = fc.tuple(step, fc.integer({ min: 0, max: 25_000 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(sized, { maxLength: 200 }), (steps) => {
      const kept = new KeptTexts<number>();
      const last = new Map<string, { made: number; characters: number }>();
      for (const [{ name, made }, characters, isForgotten] of steps) {
        if (isForgotten) {
          kept.forget(name);
          last.delete(name);
          continue;
        }
        kept.keep(name, made, characters);
        last.set(name, { made, characters });
        const found = [...last].filter(([each]) => kept.get(each) !== undefined);
        for (const [each, { made: expected }] of found) expect(kept.get(each)).toBe(expected);
        expect(found.reduce((sum, [, one]) => sum + one.characters, 0)).toBeLessThanOrEqual(500_000);
        expect(kept.get(name)).toBe(characters > 20_000 ? undefined : made);
      }
    }),
  );
});
