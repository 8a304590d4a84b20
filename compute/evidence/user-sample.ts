import type { EventTable } from '../journey-tables.ts';

const LEAST_SHARE = 0.01;

const USERS_PER_CHECK = 8_192;

/** The same users every time: 1 % of them or about `leastUsers`, whichever is more, chosen by their hash. All where there are fewer. `look` looks at the cancel flag. */
export function sampleUsers(table: EventTable, leastUsers: number, look: () => void): EventTable {
  const { userStart, userHash, timeS, channel, conversion, value } = table;
  const users = userHash.length;
  const share = Math.max(LEAST_SHARE, leastUsers / users);
  if (share >= 1) return table;
  // Mixed once more, so that the sample does not follow the groups and folds, which are residues of the hash.
  const limit = share * 2 ** 32;
  const chosen = (user: number): boolean => Math.imul(userHash[user]! ^ (userHash[user]! >>> 15), 0x85ebca6b) >>> 0 < limit;
  let [sampledUsers, sampledEvents, sampledValues] = [0, 0, 0];
  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) look();
    if (!chosen(user)) continue;
    sampledUsers += 1;
    sampledEvents += userStart[user + 1]! - userStart[user]!;
    for (let i = userStart[user]!; i < userStart[user + 1]!; i++) sampledValues += conversion[i]!;
  }
  const sample: EventTable = {
    channels: table.channels,
    userStart: new Uint32Array(sampledUsers + 1),
    userHash: new Uint32Array(sampledUsers),
    timeS: new Float64Array(sampledEvents),
    channel: new Uint16Array(sampledEvents),
    conversion: new Uint8Array(sampledEvents),
    value: new Float64Array(sampledValues),
  };
  let [u, e, v, valueIndex] = [0, 0, 0, 0];
  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) look();
    const begin = userStart[user]!;
    const stop = userStart[user + 1]!;
    const firstValue = valueIndex;
    for (let i = begin; i < stop; i++) valueIndex += conversion[i]!;
    if (!chosen(user)) continue;
    sample.value.set(value.subarray(firstValue, valueIndex), v);
    v += valueIndex - firstValue;
    sample.timeS.set(timeS.subarray(begin, stop), e);
    sample.channel.set(channel.subarray(begin, stop), e);
    sample.conversion.set(conversion.subarray(begin, stop), e);
    sample.userHash[u] = userHash[user]!;
    e += stop - begin;
    sample.userStart[++u] = e;
  }
  return sample;
}
