// SPDX-License-Identifier: Apache-2.0
// Nodes in the shades of what is bad: how large they are drawn, so that one among ten thousand is seen, which of them a
// pointer is at, and the rows of the list beside the map, which has bad cables too. Pure.

import {SHADES, type Mode, type Shading} from './colours';
import {endA, endB, endName, isSwitch, portOf} from './graph';
import type {Layout} from './layout';
import type {View} from './paint';
import {adaptersText, byName} from './words';

/** Those that are drawn, the worst last: they are drawn on top. */
export function badNodes(layout: Layout, shading: Shading, mode: Mode): number[] {
  const found: number[] = [];
  SHADES[mode].forEach(({bad}, shade) => {
    if (!bad || !shading.counts[shade]) return;
    for (let node = 0; node < layout.graph.nodes; node++)
      if (shading.nodes[node] === shade && layout.boxes[node * 4 + 2]) found.push(node);
  });
  return found;
}

/** Pixels of the screen. Less than LEAST nothing bad is drawn with; more than MOST tells no more. */
export const LEAST = 3;
const MOST = 11;
/** All marks together take at most that share of the drawing. */
const SHARE = 0.03;

/** The side of the mark of a bad node, in pixels of the screen: the same however far the drawing is zoomed out. */
export function markSize(count: number, width: number, height: number): number {
  return count ? Math.max(LEAST, Math.min(MOST, Math.sqrt((SHARE * width * height) / count))) : LEAST;
}

/** Its cell is smaller than the mark. */
export function isMarked(layout: Layout, node: number, view: View, size: number): boolean {
  return Math.min(layout.boxes[node * 4 + 2], layout.boxes[node * 4 + 3]) * view.k < size;
}

/** How far beside a mark a pointer still means it, in pixels. */
const SLACK = 4;

/** Whose mark is at that place of the screen, the nearest one, or -1. */
export function markAt(layout: Layout, bad: number[], view: View, size: number, x: number, y: number): number {
  let best = -1;
  let least = Infinity;
  for (const node of bad) {
    if (!isMarked(layout, node, view, size)) continue;
    const at = node * 4;
    const {boxes} = layout;
    const away = (begin: number, length: number, offset: number, place: number) => {
      const middle = (begin + length / 2) * view.k + offset;
      return Math.abs(place - middle) - Math.max(length * view.k, size) / 2;
    };
    const distance = Math.max(away(boxes[at], boxes[at + 2], view.x, x), away(boxes[at + 1], boxes[at + 3], view.y, y));
    if (distance <= SLACK && distance < least) [best, least] = [node, distance];
  }
  return best;
}

/** A switch, a host with those of its adapters that are bad, or a cable. */
export interface BadRow {
  /** Of the switch, of the one adapter, or of one end of the cable. */
  guid: string;
  /** That end's, of a cable; else -1. */
  port: number;
  /** Set where there are several adapters: the host is meant. */
  host: string;
  name: string;
  adapters: number;
  /** Position in SHADES[mode]; of several adapters the worst one's. */
  shade: number;
  /** How many of a host's adapters have each shade that is bad: of eight one may be down, and its host is degraded. */
  shades: number[];
}

/** How it is, in words: "1 adapter down, 7 adapters degraded" of a host, else the line of the legend. */
export function badText({host, shade, shades}: BadRow, mode: Mode): string {
  if (!host) return SHADES[mode][shade].label;
  // An adapter has that shade when it is down; a host that is unhealthy makes it degraded.
  const labelOf = (at: number) => (mode === 'state' && SHADES.state[at].style === '--map-bad' ? 'down' : SHADES[mode][at].label);
  return shades.map((count, at) => (count ? `${adaptersText(count)} ${labelOf(at)}` : '')).filter(Boolean).reverse().join(', ');
}

export interface BadList {
  mode: Mode;
  rows: BadRow[];
  /** How many there are, those that are not listed too. */
  total: number;
}

export const NOTHING_BAD: BadList = {mode: 'state', rows: [], total: 0};

const MOST_ROWS = 500;

/** Bad cables of which neither end is bad: of others the node tells. */
function cableRows(layout: Layout, shading: Shading, mode: Mode, bad: number[]): BadRow[] {
  const {graph} = layout;
  const told = new Set(bad);
  const rows: BadRow[] = [];
  SHADES[mode].forEach((each, shade) => {
    if (!each.bad || !shading.cables[shade]) return;
    for (let link = 0; link < graph.links; link++) {
      const [a, b] = [endA(graph, link), endB(graph, link)];
      if (shading.links[link] !== shade || told.has(a) || told.has(b)) continue;
      const [near, far] = [a, b].map((node) => endName(graph, link, node));
      rows.push({guid: graph.map.guids[a], port: portOf(graph, link, a), host: '', name: `${near} – ${far}`, adapters: 0, shade, shades: []});
    }
  });
  return rows;
}

/** The worst first, then by name. `bad` is of badNodes(). */
export function badList(layout: Layout, shading: Shading, mode: Mode, bad: number[]): BadList {
  const {map} = layout.graph;
  const rows = new Map<string, BadRow>();
  for (let at = bad.length - 1; at >= 0; at--) {
    const node = bad[at];
    const host = isSwitch(layout.graph, node) ? '' : map.hosts[node];
    const key = host ? `host ${host}` : map.guids[node];
    const before = rows.get(key);
    if (before) {
      before.adapters++;
      before.shades[shading.nodes[node]] = (before.shades[shading.nodes[node]] ?? 0) + 1;
      [before.host, before.name] = [host, host];
    } else {
      const shade = shading.nodes[node];
      const shades: number[] = [];
      shades[shade] = 1;
      rows.set(key, {guid: map.guids[node], port: -1, host: '', name: map.names[node], adapters: host ? 1 : 0, shade, shades});
    }
  }
  const all = [...rows.values(), ...cableRows(layout, shading, mode, bad)];
  const listed = all.slice(0, MOST_ROWS).sort((a, b) => b.shade - a.shade || byName(a.name, b.name));
  return {mode, rows: listed, total: all.length};
}
