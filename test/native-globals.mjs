import { fn } from 'jest-mock';

/** What our tests use of Jest's object of the same name. */
export const jest = {
  fn,
  setTimeout(timeoutMs) {
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = timeoutMs;
  },
};
