/** The life of a task, one Int32 in shared memory: the pool and the thread both look at it. */
export const QUEUED = 0;
export const RUNNING = 1;
export const CANCELLED = 2;
