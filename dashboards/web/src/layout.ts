// SPDX-License-Identifier: Apache-2.0
// Where each node of a fabric is drawn: rank above rank, within a pod group beside group, within a group one row for each
// leaf (in a rail-optimised fabric that is a rail) and one column for each host. Pure; lengths are those of the drawing.

import {type Graph, Parts, endA, endB, isHidden, isSwitch, linksOf, other, podOf} from './graph';
import {byName} from './words';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  label: string;
  /** Where there is no room for the label; empty: nothing shorter says enough. */
  short: string;
}

export interface Layout {
  graph: Graph;
  /** x, y, width, height of each node; width 0 where it is not drawn. */
  boxes: Float32Array;
  groups: Box[];
  pods: Box[];
  width: number;
  height: number;
}

const PITCH = 12;
const CELL = 10;
const LEAF = 28;
const SPINE_PITCH = 20;
const SPINE = 16;
const GAP = 16;
const LABEL = 14;
const MOST_COLUMNS = 72;
/** The first and the last of many. */
const BETWEEN = ' – ';

/** Which of `nodes` hang together by `parts`, in the order of their first names. */
function gather(graph: Graph, nodes: number[], parts: Parts): number[][] {
  const found = new Map<number, number[]>();
  for (const node of nodes) {
    const key = parts.of(node);
    const list = found.get(key);
    if (list) list.push(node);
    else found.set(key, [node]);
  }
  const lists = [...found.values()];
  for (const list of lists) list.sort((a, b) => byName(graph.map.names[a], graph.map.names[b]));
  const face = (list: number[]) => graph.map.names[list.find((node) => isSwitch(graph, node)) ?? list[0]];
  // Leaves are named by rail first, as often as not: hosts say better where a group belongs.
  const host = (list: number[]) => graph.map.hosts[list.find((node) => !isSwitch(graph, node)) ?? list[0]];
  return lists.sort((a, b) => byName(host(a), host(b)) || byName(face(a), face(b)));
}

export function makeLayout(graph: Graph, aspect: number): Layout {
  const layout: Layout = {graph, boxes: new Float32Array(graph.nodes * 4), groups: [], pods: [], width: 0, height: 0};
  const shown = [...Array(graph.nodes).keys()].filter((node) => !isHidden(graph, node));
  const top = graph.ranks - 1;

  // Groups: hosts and leaves that hang together without spines. A host is one thing, all its adapters.
  const parts = new Parts(graph.nodes);
  const hostOf = new Map<string, number>();
  for (const node of shown) {
    if (isSwitch(graph, node)) continue;
    const host = graph.map.hosts[node];
    const before = hostOf.get(host);
    if (before === undefined) hostOf.set(host, node);
    else parts.join(node, before);
  }
  const joinBelow = (rank: number) => {
    for (let link = 0; link < graph.links; link++) {
      const a = endA(graph, link);
      const b = endB(graph, link);
      if (isHidden(graph, a) || isHidden(graph, b)) continue;
      if (Math.max(graph.rank[a], graph.rank[b]) <= rank) parts.join(a, b);
    }
  };
  joinBelow(1);
  const groups = gather(graph, shown.filter((node) => graph.rank[node] <= 1), parts);
  const groupSizes = groups.map((members) => drawGroup(layout, members));

  // Pods: what hangs together without the top rank. With two ranks of switches there is one.
  if (top > 2) joinBelow(top - 1);
  const partOf = (group: number[]) => (top > 2 ? parts.of(group[0]) : 0);
  const pods = new Map<number, number[]>();
  groups.forEach((group, index) => {
    const pod = partOf(group);
    pods.set(pod, [...(pods.get(pod) ?? []), index]);
  });
  const upper = shown.filter((node) => graph.rank[node] > 1).sort((a, b) => byName(graph.map.names[a], graph.map.names[b]));
  const podBoxes: {box: Box; groups: number[]; nodes: number[]}[] = [];
  for (const [pod, members] of pods) {
    const nodes = top > 2 ? upper.filter((node) => graph.rank[node] < top && parts.of(node) === pod) : [];
    podBoxes.push({box: drawPod(layout, members.map((index) => groupSizes[index]), nodes, aspect, top), groups: members, nodes});
  }
  // All pods in rows, below the top rank.
  const many = podBoxes.length > 1;
  const places = flow(podBoxes.map(({box}) => box), aspect, many ? GAP * 2 : 0);
  const placed = new Set(podBoxes.flatMap(({nodes}) => nodes));
  const above = upper.filter((node) => !placed.has(node));
  const width = Math.max(places.width, SPINE_PITCH);
  const topHeight = drawRanks(layout, above, 0, 0, width, top);
  podBoxes.forEach(({box, groups: members, nodes}, index) => {
    const x = places.x[index];
    const y = topHeight + places.y[index];
    for (const node of nodes) shift(layout, node, x, y);
    for (const group of members) {
      const outline = groupSizes[group];
      outline.x += x;
      outline.y += y;
      for (const node of groups[group]) shift(layout, node, outline.x, outline.y);
    }
    if (many) layout.pods.push({...box, x, y, ...named(podName(graph, [...nodes, ...members.flatMap((group) => groups[group])]), members.map((group) => groupSizes[group].label))});
  });
  // Of two tiers a pod is a group: no other box bears its name.
  if (!many) groups.forEach((group, index) => Object.assign(groupSizes[index], named(podName(graph, group), [groupSizes[index].label])));
  layout.groups = groupSizes;
  layout.width = width;
  layout.height = topHeight + places.height;
  return layout;
}

/** Of the pod that all of them are of; empty where there is none. */
function podName(graph: Graph, nodes: number[]): string {
  const names = new Set(nodes.map((node) => podOf(graph, node)).filter((name) => name !== undefined));
  const [name] = names;
  return names.size === 1 ? `Pod ${name}` : '';
}

/** A pod's name, and its hosts from the first to the last one, of groups that are labelled so. */
function named(pod: string, labels: string[]): {label: string; short: string} {
  const hosts = labels.flatMap((label) => label.split(BETWEEN));
  const range = hosts.length > 1 ? `${hosts[0]}${BETWEEN}${hosts[hosts.length - 1]}` : hosts[0];
  return {label: [pod, range].filter(Boolean).join(', '), short: pod};
}

function set(layout: Layout, node: number, x: number, y: number, width: number, height: number): void {
  layout.boxes.set([x, y, width, height], node * 4);
}

function shift(layout: Layout, node: number, x: number, y: number): void {
  layout.boxes[node * 4] += x;
  layout.boxes[node * 4 + 1] += y;
}

/** Switches of one or more ranks in centred rows, the highest rank on top. Gives the height that they take. */
function drawRanks(layout: Layout, nodes: number[], x: number, y: number, width: number, top: number): number {
  let used = 0;
  for (let rank = top; rank > 1; rank--) {
    const row = nodes.filter((node) => layout.graph.rank[node] === rank);
    if (!row.length) continue;
    const columns = Math.max(1, Math.min(row.length, Math.floor(width / SPINE_PITCH)));
    const pitch = Math.min(width / columns, 3 * SPINE_PITCH);
    row.forEach((node, index) => {
      const inRow = Math.min(columns, row.length - Math.floor(index / columns) * columns);
      const left = x + (width - inRow * pitch) / 2 + (pitch - SPINE) / 2;
      set(layout, node, left + (index % columns) * pitch, y + used + Math.floor(index / columns) * SPINE_PITCH, SPINE, SPINE);
    });
    used += Math.ceil(row.length / columns) * SPINE_PITCH + GAP * 1.5;
  }
  return used;
}

/** Places the groups, relative to the pod, and its own switches above them. */
function drawPod(layout: Layout, groups: Box[], nodes: number[], aspect: number, top: number): Box {
  const places = flow(groups, nodes.length ? 1.6 : aspect, GAP);
  const inset = nodes.length ? GAP : 0;
  const label = nodes.length ? LABEL : 0;
  const width = Math.max(places.width, nodes.length ? SPINE_PITCH * Math.min(nodes.length, 8) : 0);
  const ranks = drawRanks(layout, nodes, inset, inset + label, width, top - 1);
  groups.forEach((group, index) => {
    group.x = inset + places.x[index];
    group.y = inset + label + ranks + places.y[index];
  });
  return {x: 0, y: 0, width: width + 2 * inset, height: label + ranks + places.height + 2 * inset, label: '', short: ''};
}

/** Places the nodes of a group, relative to it. */
function drawGroup(layout: Layout, nodes: number[]): Box {
  const {graph} = layout;
  const leaves = nodes.filter((node) => isSwitch(graph, node));
  const members = nodes.filter((node) => !isSwitch(graph, node));
  const rowOf = new Map(leaves.map((leaf, row) => [leaf, row]));
  const rows = Math.max(1, leaves.length);
  const leafOf = (node: number) => {
    for (const link of linksOf(graph, node)) {
      const row = rowOf.get(other(graph, link, node));
      if (row !== undefined) return row;
    }
    return rows - 1;
  };
  // A column for each host, unless that leaves most of the drawing empty or two adapters in one place.
  const hosts = [...new Set(members.map((node) => graph.map.hosts[node]))].sort(byName);
  const columnOf = new Map(hosts.map((host, column) => [host, column]));
  const taken = new Set<number>();
  let doubled = false;
  for (const node of members) {
    const at = (columnOf.get(graph.map.hosts[node]) ?? 0) * rows + leafOf(node);
    doubled ||= taken.has(at);
    taken.add(at);
  }
  const byHost = !doubled && members.length >= 0.4 * hosts.length * rows;
  const next = new Uint32Array(rows);
  const place = (node: number) => {
    const row = leafOf(node);
    return {row, column: byHost ? columnOf.get(graph.map.hosts[node]) ?? 0 : next[row]++};
  };
  const placed = members.map((node) => ({node, ...place(node)}));
  const columns = placed.reduce((most, {column}) => Math.max(most, column + 1), 0);
  const blocks = Math.max(1, Math.ceil(columns / MOST_COLUMNS));
  const wide = Math.max(1, Math.ceil(columns / blocks));
  const blockHeight = rows * PITCH + (blocks > 1 ? GAP / 2 : 0);
  const left = leaves.length ? LEAF + 4 : 0;
  for (const {node, row, column} of placed)
    set(layout, node, left + (column % wide) * PITCH, LABEL + Math.floor(column / wide) * blockHeight + row * PITCH, CELL, CELL);
  leaves.forEach((leaf, row) => set(layout, leaf, 0, LABEL + row * PITCH, LEAF, CELL));
  const label = hosts.length > 1 ? `${hosts[0]}${BETWEEN}${hosts[hosts.length - 1]}` : hosts[0] ?? graph.map.names[nodes[0]];
  return {x: 0, y: 0, width: left + wide * PITCH, height: LABEL + blocks * blockHeight, label, short: ''};
}

interface Flow {
  x: number[];
  y: number[];
  width: number;
  height: number;
}

const MOST_TRIES = 200;

/** Boxes one after the other in rows: so many in a row that all together fill a screen of that aspect best. */
function flow(boxes: {width: number; height: number}[], aspect: number, gap: number): Flow {
  const widest = boxes.reduce((most, box) => Math.max(most, box.width), 0);
  let best: Flow | undefined;
  let least = Infinity;
  for (let count = 1; count <= Math.min(boxes.length, MOST_TRIES); count++) {
    const tried = rowsOf(boxes, count * (widest + gap) - gap, gap);
    const need = Math.max(tried.width / aspect, tried.height);
    if (need < least) [best, least] = [tried, need];
  }
  return best ?? {x: [], y: [], width: 0, height: 0};
}

function rowsOf(boxes: {width: number; height: number}[], limit: number, gap: number): Flow {
  const rows: Flow = {x: [], y: [], width: 0, height: 0};
  let left = 0;
  let down = 0;
  let high = 0;
  for (const box of boxes) {
    if (left > 0 && left + box.width > limit + 1) {
      left = 0;
      down += high + gap;
      high = 0;
    }
    rows.x.push(left);
    rows.y.push(down);
    left += box.width + gap;
    rows.width = Math.max(rows.width, left - gap);
    high = Math.max(high, box.height);
  }
  rows.height = down + high;
  return rows;
}
