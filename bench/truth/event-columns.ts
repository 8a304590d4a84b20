import { sharedFloat64, sharedUint16, sharedUint32, sharedUint8 } from '../../compute/journey-tables.ts';
import type { EventTable } from '../../compute/journey-tables.ts';

const FIRST_ROOM = 1 << 16;

/** Events appended user by user, in the order of time; becomes an event table. */
export class EventColumns {
  private events = 0;
  private users = 0;
  private conversions = 0;
  private timeS = sharedFloat64(FIRST_ROOM);
  private channel = sharedUint16(FIRST_ROOM);
  private conversion = sharedUint8(FIRST_ROOM);
  private value = sharedFloat64(FIRST_ROOM);
  private userStart = sharedUint32(FIRST_ROOM);
  private userHash = sharedUint32(FIRST_ROOM);

  event(timeS: number, channel: number, conversion: boolean, value: number): void {
    if (this.events === this.timeS.length) {
      this.timeS = longer(this.timeS, sharedFloat64);
      this.channel = longer(this.channel, sharedUint16);
      this.conversion = longer(this.conversion, sharedUint8);
      this.value = longer(this.value, sharedFloat64);
    }
    this.timeS[this.events] = timeS;
    this.channel[this.events] = channel;
    this.conversion[this.events] = Number(conversion);
    this.events++;
    if (conversion) this.value[this.conversions++] = value;
  }

  /** Ends the user whose events were appended last. */
  endUser(hash: number): void {
    this.userHash[this.users++] = hash;
    // One entry of room more than users: the end of the last one.
    if (this.users === this.userStart.length - 1) {
      this.userStart = longer(this.userStart, sharedUint32);
      this.userHash = longer(this.userHash, sharedUint32);
    }
    this.userStart[this.users] = this.events;
  }

  table(channels: readonly string[]): EventTable {
    return {
      channels,
      userStart: this.userStart.subarray(0, this.users + 1),
      userHash: this.userHash.subarray(0, this.users),
      timeS: this.timeS.subarray(0, this.events),
      channel: this.channel.subarray(0, this.events),
      conversion: this.conversion.subarray(0, this.events),
      value: this.value.subarray(0, this.conversions),
    };
  }
}

function longer<Column extends Float64Array | Uint32Array | Uint16Array | Uint8Array>(
  column: Column,
  room: (length: number) => Column,
): Column {
  const more = room(column.length * 2);
  more.set(column);
  return more;
}
