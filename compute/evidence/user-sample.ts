import type { EventTable } from '../journey-tables.ts';

const LEAST_SHARE = 0.01;

const USERS_PER_CHECK = 8_192;
const EVENTS_PER_CHECK = 1 << 20;

/**
 * The same users every time: 1 % of them or about `leastUsers`, whichever is more, chosen by their hash. All where
 * there are fewer. `throwIfCancelled` ends a task that was cancelled.
 */
export function sampleUsers(table: EventTable, leastUsers: number, throwIfCancelled: () => void): EventTable {
  const { userStart, userHash, timeS, channel, conversion, value } = table;
  const share = Math.max(LEAST_SHARE, leastUsers / userHash.length);
  if (share >= 1) return table;
  const users = chosenUsers(userHash, share, throwIfCancelled);
  const sampledStart = new Uint32Array(users.length + 1);
  users.forEach((user, u) => (sampledStart[u + 1] = sampledStart[u]! + userStart[user + 1]! - userStart[user]!));
  const events = sampledStart[users.length]!;
  const sample = {
    channels: table.channels,
    userStart: sampledStart,
    userHash: Uint32Array.from(users, (user) => userHash[user]!),
    timeS: new Float64Array(events),
    channel: new Uint16Array(events),
    conversion: new Uint8Array(events),
  };
  const values: number[] = [];
  // The values of those who are not chosen are only counted.
  let valueIndex = 0;
  let seen = 0;
  const countUntil = (event: number): void => {
    while (seen < event) {
      throwIfCancelled();
      for (const stop = Math.min(event, seen + EVENTS_PER_CHECK); seen < stop; seen++) valueIndex += conversion[seen]!;
    }
  };
  for (let u = 0; u < users.length; u++) {
    const user = users[u]!;
    const begin = userStart[user]!;
    const shift = begin - sampledStart[u]!;
    countUntil(begin);
    for (; seen < userStart[user + 1]!; seen++) {
      sample.timeS[seen - shift] = timeS[seen]!;
      sample.channel[seen - shift] = channel[seen]!;
      sample.conversion[seen - shift] = conversion[seen]!;
      if (conversion[seen] === 1) values.push(value[valueIndex++]!);
    }
  }
  return { ...sample, value: Float64Array.from(values) };
}

function chosenUsers(userHash: Uint32Array, share: number, throwIfCancelled: () => void): readonly number[] {
  // Mixed once more, so that the sample does not follow the groups and folds, which are residues of the hash.
  const limit = share * 2 ** 32;
  const chosen: number[] = [];
  for (let user = 0; user < userHash.length; user++) {
    if (user % USERS_PER_CHECK === 0) throwIfCancelled();
    const hash = userHash[user]!;
    if (Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0 < limit) chosen.push(user);
  }
  return chosen;
}

/** The events from a moment on; users without any keep their place. */
export function eventsFrom(table: EventTable, momentS: number): EventTable {
  const { userStart, timeS, channel, conversion, value } = table;
  const kept = (i: number): boolean => timeS[i]! >= momentS;
  const start = new Uint32Array(userStart.length);
  for (let user = 0; user + 1 < userStart.length; user++) {
    let count = 0;
    for (let i = userStart[user]!; i < userStart[user + 1]!; i++) if (kept(i)) count++;
    start[user + 1] = start[user]! + count;
  }
  const values: number[] = [];
  let orders = 0;
  for (let i = 0; i < timeS.length; i++) {
    if (conversion[i] === 0) continue;
    if (kept(i)) values.push(value[orders]!);
    orders++;
  }
  return {
    channels: table.channels,
    userHash: table.userHash,
    userStart: start,
    timeS: timeS.filter((_, i) => kept(i)),
    channel: channel.filter((_, i) => kept(i)),
    conversion: conversion.filter((_, i) => kept(i)),
    value: Float64Array.from(values),
  };
}
