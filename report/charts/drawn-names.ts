import LRU from 'zrender/lib/core/LRU.js';

/* ECharts keeps what it knows of a text, such as its width, in plain objects under the text itself. */

const IN_FRONT = ' ';
let isDone = false;

/**
 * Has texts kept under keys that no object has of its own: a channel called `__proto__` would otherwise change every
 * object of the process, and with that end it.
 */
export function keepTextsApart(): void {
  if (isDone) return;
  isDone = true;
  const { get, put } = LRU.prototype;
  LRU.prototype.get = function (key: string | number) {
    return get.call(this, IN_FRONT + key);
  };
  LRU.prototype.put = function (key: string | number, value: unknown) {
    return put.call(this, IN_FRONT + key, value);
  };
}
