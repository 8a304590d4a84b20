import { labelSides } from '../../../report/charts/label-sides.ts';

const plot = { width: 740, height: 360 };

describe('the side of a label', () => {
  test('is the right where there is room', () => {
    expect(
      labelSides(
        [
          { x: 100, y: 100, label: 'email  2.1×' },
          { x: 400, y: 200, label: 'social  1.0×' },
        ],
        plot,
      ),
    ).toEqual(['right', 'right']);
  });

  test('is the left at the right edge', () => {
    expect(labelSides([{ x: 735, y: 100, label: 'email  2.1×' }], plot)).toEqual(['left']);
  });

  test('leaves the dots and labels beside it readable', () => {
    const dots = [
      { x: 27, y: 217, label: 'email  26.49×' },
      { x: 121, y: 212, label: 'brand_search  6.21×' },
      { x: 125, y: 263, label: 'paid_search  3.88×' },
      { x: 207, y: 269, label: 'influencer  2.16×' },
    ];
    const [email, , paid, influencer] = labelSides(dots, plot);
    expect(email).not.toBe('right');
    expect(paid).not.toBe('right');
    expect(influencer).toBe('right');
  });

  test('is always found, be there ever so many in one place', () => {
    expect(
      labelSides(
        Array.from({ length: 30 }, (_, index) => ({ x: 5, y: 5, label: `channel ${index}` })),
        plot,
      ),
    ).toHaveLength(30);
  });
});
