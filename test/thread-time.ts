/** Milliseconds of processor time that this thread has had: a busy machine makes no work cost more of it. */
export function threadTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
