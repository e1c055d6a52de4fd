// SPDX-License-Identifier: Apache-2.0
// What was read of a port over time, as rows of many ports tell it: what was not read is null, what was read and stood still is 0. Pure.

import {counterOf, valuesOf, type History, type PortHistory, type Values} from './history';

export const TRAFFIC = ['transmit_bytes', 'receive_bytes'];

/**
 * The rate of a counter. Of one that stood still the answer has no buckets (see readHistory()): it is 0 wherever another counter of the port was read.
 */
function ratesOf(history: History, port: PortHistory, name: string, scale = 1): Values {
  const counter = counterOf(port, name);
  const values = valuesOf(history, counter, 'rate', scale);
  if (counter && !counter.bucket.length) port.counters.forEach(({bucket}) => bucket.forEach((each) => { values[each] = 0; }));
  return values;
}

/** The busier direction of each bucket, in bits a second. */
export function trafficOf(history: History, port: PortHistory): Values {
  const [sends, receives] = TRAFFIC.map((name) => ratesOf(history, port, name, 8));
  return sends.map((value, index) => {
    const other = receives[index];
    return value === null ? other : other === null ? value : Math.max(value, other);
  });
}

/** The share of time that the port waited to send. In ticks, where weftd does not know how long one is, it says nothing but of none. */
export function stallOf(history: History, port: PortHistory): Values {
  const wait = counterOf(port, 'transmit_wait');
  return wait && wait.unit !== 'seconds' && Number(wait.total) > 0 ? valuesOf(history, undefined, 'rate') : ratesOf(history, port, 'transmit_wait');
}

/** What counters grew by together; null where none of them was read. */
export function totalOf(port: PortHistory, names: string[]): number | null {
  const read = port.counters.filter(({counter}) => names.includes(counter));
  return read.length ? read.reduce((sum, {total}) => sum + Number(total), 0) : null;
}

/** Any of its counters was read in the time: of one that was not the answer has nothing. */
export const isRead = ({counters}: PortHistory) => counters.length > 0;
