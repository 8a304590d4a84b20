/**
 * Calls back, once, when the launcher that started this process is gone, even by kill -9: the system closes the IPC
 * channel between the two. Does nothing in a process that was started without one.
 */
export function watchParent(onGone: () => void): void {
  if (process.channel === undefined || process.channel === null) return;
  process.once('disconnect', onGone);
  process.channel.unref();
}
