// SPDX-License-Identifier: Apache-2.0
// What colour a node or a link gets: by state, by traffic, by stall or by errors. The legend is made of the same tables. Pure.

import {type Graph, isSwitch, linksOf} from './graph';
import type {FabricState} from './types';

export type Mode = 'state' | 'traffic' | 'stall' | 'errors';

/** One line of the legend; `style` is the custom property that holds its colour. */
export interface Shade {
  label: string;
  style: string;
  /** A link of this shade is always drawn. */
  bad: boolean;
}

export const SHADES: Record<Mode, Shade[]> = {
  state: [
    {label: 'well', style: '--map-ok', bad: false},
    {label: 'degraded', style: '--map-warn', bad: true},
    {label: 'unhealthy or down', style: '--map-bad', bad: true},
    {label: 'no fresh data', style: '--map-unknown', bad: false},
  ],
  traffic: [
    {label: 'under 5 %', style: '--map-t0', bad: false},
    {label: '5 to 25 %', style: '--map-t1', bad: false},
    {label: '25 to 50 %', style: '--map-t2', bad: false},
    {label: '50 to 80 %', style: '--map-t3', bad: true},
    {label: 'over 80 %', style: '--map-t4', bad: true},
    {label: 'not known', style: '--map-unknown', bad: false},
  ],
  stall: [
    {label: 'under 1 %', style: '--map-s0', bad: false},
    {label: '1 to 5 %', style: '--map-s1', bad: false},
    {label: '5 to 20 %', style: '--map-s2', bad: false},
    {label: '20 to 50 %', style: '--map-s3', bad: true},
    {label: 'over 50 %', style: '--map-s4', bad: true},
    {label: 'not known', style: '--map-unknown', bad: false},
  ],
  errors: [
    {label: 'none', style: '--map-s0', bad: false},
    {label: 'under 1e-14 per bit', style: '--map-s2', bad: false},
    {label: '1e-14 to 1e-12', style: '--map-s3', bad: true},
    {label: 'over 1e-12', style: '--map-s4', bad: true},
    {label: 'not known', style: '--map-unknown', bad: false},
  ],
};

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUE = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 64; digit++) VALUE[DIGITS.charCodeAt(digit)] = digit;

const value = (letters: string, at: number) => VALUE[letters.charCodeAt(at) & 127];

/** A share, 0 to 1, that the map has as a digit; less than 0 where it is not known. */
export const shareAt = (letters: string, at: number) => value(letters, at) / 63;

/** Position in SHADES.stall of a share of time. */
export function stallShadeOf(ratio: number): number {
  return ratio < 0.01 ? 0 : ratio < 0.05 ? 1 : ratio < 0.2 ? 2 : ratio < 0.5 ? 3 : 4;
}

function stallShade(digit: number): number {
  return digit < 0 ? 5 : stallShadeOf(digit / 63);
}

function trafficShade(digit: number): number {
  if (digit < 0) return 5;
  const ratio = digit / 63;
  return ratio < 0.05 ? 0 : ratio < 0.25 ? 1 : ratio < 0.5 ? 2 : ratio < 0.8 ? 3 : 4;
}

function errorShade(digit: number): number {
  if (digit < 0) return 4;
  // n is about 10^(n-20) errors per bit.
  return digit === 0 ? 0 : digit < 6 ? 1 : digit <= 8 ? 2 : 3;
}

const LINK_STATE: Record<string, number> = {u: 0, d: 2, s: 3, n: 3};
const NODE_STATE: Record<string, number> = {h: 0, d: 1, b: 2, u: 3, x: 2};
/** What is worse of two shades of the state: well, no data, degraded, down. */
const ORDER = [0, 2, 3, 1];

export interface Shading {
  nodes: Uint8Array;
  links: Uint8Array;
  /** How many nodes have each shade. */
  counts: number[];
  /** The same of links. */
  cables: number[];
}

export function shade(graph: Graph, state: FabricState, mode: Mode): Shading {
  const links = new Uint8Array(graph.links);
  const nodes = new Uint8Array(graph.nodes);
  const fits = state.shape === graph.map.shape;
  const unknown = SHADES[mode].length - 1;
  for (let link = 0; link < graph.links; link++) {
    if (!fits) links[link] = unknown;
    else if (mode === 'state') links[link] = LINK_STATE[state.links?.[link] ?? 'n'] ?? 3;
    else if (mode === 'traffic') links[link] = trafficShade(value(state.traffic ?? '', link));
    else if (mode === 'stall') links[link] = stallShade(value(state.stall ?? '', link));
    else links[link] = errorShade(value(state.errors ?? '', link));
  }
  const counts = new Array<number>(unknown + 1).fill(0);
  for (let node = 0; node < graph.nodes; node++) {
    nodes[node] = !fits ? unknown : mode === 'state' ? nodeState(graph, state, links, node) : worst(graph, links, node, unknown);
    if (graph.map.types[node] !== 'A') counts[nodes[node]]++;
  }
  const cables = new Array<number>(unknown + 1).fill(0);
  for (const each of links) cables[each]++;
  return {nodes, links, counts, cables};
}

/**
 * A switch is as its health says, whatever one of its cables does. An adapter is down with its cable; while that is up, what
 * is not known of the rest of its host says nothing of it, and what is bad there makes it degraded.
 */
function nodeState(graph: Graph, state: FabricState, links: Uint8Array, node: number): number {
  const letter = state.nodes?.[node] ?? 'u';
  if (isSwitch(graph, node) || letter === 'x' || graph.first[node] === graph.first[node + 1]) return NODE_STATE[letter] ?? 3;
  let result = letter === 'd' || letter === 'b' ? 1 : 0;
  for (const link of linksOf(graph, node)) if (ORDER[links[link]] > ORDER[result]) result = links[link];
  return result;
}

/** The worst of the node's links of which something is known. */
function worst(graph: Graph, links: Uint8Array, node: number, unknown: number): number {
  let result = -1;
  for (const link of linksOf(graph, node)) if (links[link] !== unknown) result = Math.max(result, links[link]);
  return result < 0 ? unknown : result;
}
