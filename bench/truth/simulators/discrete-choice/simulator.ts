import type { Simulator } from '../simulator.ts';
import { SHOPS, drawShop } from './draw-shop.ts';
import { simulatedShop } from './simulated-shop.ts';

/** People whose needs come up choose among the shop, its rivals and not buying. */
export const discreteChoice: Simulator = {
  name: 'discrete-choice',
  mechanism:
    'Needs come up by renewal; people search, form a consideration set that advertising enlarges, and choose ' +
    'among our goods, two to four rivals and not buying by a nested logit with random coefficients.',
  shops: SHOPS,
  shop: (index, people) => simulatedShop(drawShop(index), people),
};
