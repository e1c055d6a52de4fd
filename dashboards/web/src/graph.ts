// SPDX-License-Identifier: Apache-2.0
// The fabric as a graph by position: who is cabled to whom, and which rank each node has. Pure.

import type {FabricMap} from './types';

export interface Graph {
  map: FabricMap;
  nodes: number;
  links: number;
  /** Links of node n: linkOf[first[n]] … linkOf[first[n + 1] - 1]. */
  first: Uint32Array;
  linkOf: Uint32Array;
  /** 0 for what is no switch, 1 for leaves, then upwards. */
  rank: Uint8Array;
  ranks: number;
  byGuid: Map<string, number>;
}

export const endA = (graph: Graph, link: number) => graph.map.links[link * 4];
export const endB = (graph: Graph, link: number) => graph.map.links[link * 4 + 2];
export const other = (graph: Graph, link: number, node: number) =>
  endA(graph, link) === node ? endB(graph, link) : endA(graph, link);
export const isSwitch = (graph: Graph, node: number) => graph.map.types[node] === 'S';
/** Sits inside a switch, and has no place in the drawing. */
export const isHidden = (graph: Graph, node: number) => graph.map.types[node] === 'A';

/** The pod of a node, by its name; undefined where it is of none. */
export const podOf = ({map}: Graph, node: number) => map.pods?.[map.podOf?.[node] ?? -1];
/** The same of a rail. */
export const railOf = ({map}: Graph, node: number) => map.rails?.[map.railOf?.[node] ?? -1];

export function linksOf(graph: Graph, node: number): Uint32Array {
  return graph.linkOf.subarray(graph.first[node], graph.first[node + 1]);
}

export function portOf(graph: Graph, link: number, node: number): number {
  const at = link * 4;
  return endA(graph, link) === node ? graph.map.links[at + 1] : graph.map.links[at + 3];
}

/** "leaf-1 port 3"; on Ethernet, where ports have names, "leaf01 swp3" or "gpu-01 eth1". */
export function endName(graph: Graph, link: number, node: number): string {
  return graph.map.ends?.[link * 2 + (endA(graph, link) === node ? 0 : 1)] ?? `${graph.map.names[node]} port ${portOf(graph, link, node)}`;
}

/** The link at that port of the node, or -1. */
export function linkAt(graph: Graph, node: number, port: number): number {
  for (const link of linksOf(graph, node)) if (portOf(graph, link, node) === port) return link;
  return -1;
}

export function makeGraph(map: FabricMap): Graph {
  const nodes = map.guids.length;
  const links = map.links.length / 4;
  const first = new Uint32Array(nodes + 1);
  for (let at = 0; at < map.links.length; at += 2) first[map.links[at] + 1]++;
  for (let node = 0; node < nodes; node++) first[node + 1] += first[node];
  const place = first.slice();
  const linkOf = new Uint32Array(links * 2);
  for (let at = 0; at < map.links.length; at += 2) linkOf[place[map.links[at]]++] = at >> 2;
  const graph: Graph = {
    map, nodes, links, first, linkOf, rank: new Uint8Array(nodes), ranks: 1,
    byGuid: new Map(map.guids.map((guid, node) => [guid, node])),
  };
  setRanks(graph);
  return graph;
}

/**
 * Leaves are switches of which a fifth of the cables lead to hosts (a spine with one management host is none); where no
 * switch has so many, those that have any. Each further rank is one cable farther from the leaves.
 */
function setRanks(graph: Graph): void {
  const hostCables = new Uint32Array(graph.nodes);
  for (let link = 0; link < graph.links; link++) {
    const a = endA(graph, link);
    const b = endB(graph, link);
    if (!isSwitch(graph, a) && !isHidden(graph, a)) hostCables[b]++;
    if (!isSwitch(graph, b) && !isHidden(graph, b)) hostCables[a]++;
  }
  const switches = [...Array(graph.nodes).keys()].filter((node) => isSwitch(graph, node));
  const share = (node: number) => hostCables[node] / Math.max(1, graph.first[node + 1] - graph.first[node]);
  let edge = switches.filter((node) => share(node) >= 0.2);
  if (!edge.length) edge = switches.filter((node) => hostCables[node] > 0);
  if (!edge.length) edge = switches;
  for (const node of edge) graph.rank[node] = 1;
  graph.ranks = 2;
  while (edge.length) {
    const next: number[] = [];
    for (const node of edge) {
      for (const link of linksOf(graph, node)) {
        const peer = other(graph, link, node);
        if (!isSwitch(graph, peer) || graph.rank[peer]) continue;
        graph.rank[peer] = graph.rank[node] + 1;
        graph.ranks = Math.max(graph.ranks, graph.rank[peer] + 1);
        next.push(peer);
      }
    }
    edge = next;
  }
  for (const node of switches) if (!graph.rank[node]) graph.rank[node] = 1; // cabled to nobody
}

/** Parts that hang together. */
export class Parts {
  private readonly parent: Uint32Array;
  constructor(count: number) {
    this.parent = Uint32Array.from({length: count}, (_, index) => index);
  }
  of(index: number): number {
    while (this.parent[index] !== index) {
      this.parent[index] = this.parent[this.parent[index]];
      index = this.parent[index];
    }
    return index;
  }
  join(one: number, two: number): void {
    this.parent[this.of(one)] = this.of(two);
  }
}
