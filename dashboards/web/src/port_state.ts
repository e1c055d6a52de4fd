// SPDX-License-Identifier: Apache-2.0
// How a port is, in a word, and what of it is old: its state and its counters are read by different ways, and of a pulled cable
// only the other end may tell. Pure.

import type {FabricMap, MapState, Port} from './types';
import {plain, since} from './words';

export interface PortWord {
  word: string;
  good: boolean;
  bad: boolean;
  /** What is old, and how old; empty: nothing. */
  note: string;
  /** State, width and speed are those of an earlier time. */
  isOld: boolean;
}

/** What the map says of the link at the port, "d" where an end that was read lately is down; empty where it has none. */
export function linkLetter(map: FabricMap[], state: MapState | undefined, {nodeGuid, port}: Port): string {
  for (const {fabric, shape, guids, links} of map) {
    const node = guids.indexOf(nodeGuid);
    if (node < 0) continue;
    const letters = state?.fabrics.find((each) => each.fabric === fabric && each.shape === shape)?.links;
    for (let at = 0; letters && at < links.length; at += 2)
      if (links[at] === node && links[at + 1] === port) return letters[at >> 2];
  }
  return '';
}

function stateWord({state, physicalState, peer}: Port): {word: string; good: boolean; bad: boolean} {
  if (state === 'ACTIVE') return {word: 'up', good: true, bad: false};
  if (physicalState === 'DISABLED') return {word: 'disabled', good: false, bad: true};
  if (state === 'DOWN' && !peer) return {word: 'no cable', good: false, bad: false};
  return {word: state, good: false, bad: state === 'DOWN'};
}

/** `letter` is of linkLetter(). */
export function portWord(port: Port, letter: string, now: number): PortWord {
  const {stateReadAt, countersReadAt} = port;
  if (port.state === 'STATE_UNKNOWN' && !stateReadAt) return {word: 'not read', good: false, bad: false, note: '', isOld: false};
  const own = stateWord(port);
  if (!port.stale) return {...own, note: '', isOld: false};
  const [state, counters] = [stateReadAt, countersReadAt].map((stamp) => (stamp ? now - Date.parse(stamp) : Infinity));
  const was = stateReadAt ? `${plain(own.word)} ${since(stateReadAt, now)} ago` : '';
  if (letter === 'd') return {word: 'down (the other end says so)', good: false, bad: true, note: was && `its own state: ${was}`, isOld: true};
  // One of the two is old. It is the counters where they are much older.
  if (countersReadAt && state < counters / 2)
    return {...own, good: false, note: `read ${since(stateReadAt, now)} ago; its counters are ${since(countersReadAt, now)} old`, isOld: false};
  return {word: 'no fresh data', good: false, bad: false, note: was, isOld: true};
}
