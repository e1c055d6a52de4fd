// SPDX-License-Identifier: Apache-2.0
// Draws the fabric on a canvas. Only what is in sight is drawn, sorted by colour, and cells that would be smaller than a
// pixel become one block: the cost of a frame follows what can be seen.

import {isMarked, LEAST, markSize} from './bad_nodes';
import {SHADES, type Mode, type Shading} from './colours';
import {type Graph, endA, endB, isSwitch, linksOf, railOf} from './graph';
import type {Box, Layout} from './layout';

export interface View {
  x: number;
  y: number;
  k: number;
}

export interface Scene {
  layout: Layout;
  shading: Shading;
  mode: Mode;
  selected: number;
  /** With it the other adapters of the host that the reader looks at. */
  siblings: number[];
  /** The one link that the reader looks at, or -1. */
  selectedLink: number;
  hovered: number;
  /** Nodes that an open incident blames, and the colour of its severity. */
  rings: Map<number, string>;
  /** Links that an open incident blames, in the same way. */
  blamed: Map<number, string>;
  /** Links that are always drawn, see badLinks(). */
  bad: number[];
  /** See badNodes(). */
  badNodes: number[];
}

export interface Palette {
  shades: string[];
  text: string;
  muted: string;
  outline: string;
  focus: string;
  background: string;
  link: string;
}

export function readPalette(element: Element, mode: Mode): Palette {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    shades: SHADES[mode].map((each) => colour(each.style)),
    text: colour('--text'),
    muted: colour('--muted'),
    outline: colour('--line'),
    focus: colour('--focus'),
    background: colour('--panel'),
    link: colour('--map-link'),
  };
}

/** Below so many cables all of them are drawn, faintly. */
const FEW_LINKS = 1500;
/** Of the bad links only so many are drawn, the worst: more would be a tangle, and the nodes' colours tell of the others. */
const MOST_LINKS = 300;
const SMALLEST_LABEL = 8.5;
/** Above the first switches of a pod nothing is drawn, see layout.ts. */
const POD_MARGIN = 30;

export function paint(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette,
                      width: number, height: number, ratio: number): void {
  const sight: Box = {x: -view.x / view.k, y: -view.y / view.k, width: width / view.k, height: height / view.k, label: '', short: ''};
  const batches = inSight(scene, palette, sight);
  const many = batches.reduce((sum, batch) => sum + batch.length, 0) > MANY;
  context.setTransform(1, 0, 0, 1, 0, 0);
  if (many) {
    dots(context, scene, view, palette, batches, ratio);
  } else {
    context.fillStyle = palette.background;
    context.fillRect(0, 0, width * ratio, height * ratio);
  }
  context.setTransform(ratio * view.k, 0, 0, ratio * view.k, ratio * view.x, ratio * view.y);
  outlines(context, scene.layout, view, palette, sight);
  allLinks(context, scene, view, palette);
  if (!many) cells(context, scene, view, palette, batches);
  markedLinks(context, scene, view, palette);
  labels(context, scene, view, palette, sight);
  const size = markSize(scene.badNodes.length, width, height);
  badMarks(context, scene, view, palette, size);
  marks(context, scene, view, palette, size);
}

function meets(box: Box, sight: Box): boolean {
  return box.x < sight.x + sight.width && box.y < sight.y + sight.height && box.x + box.width > sight.x && box.y + box.height > sight.y;
}

function outlines(context: CanvasRenderingContext2D, layout: Layout, view: View, palette: Palette, sight: Box): void {
  context.strokeStyle = palette.outline;
  context.lineWidth = 1 / view.k;
  for (const pod of layout.pods) if (meets(pod, sight)) context.strokeRect(pod.x, pod.y, pod.width, pod.height);
}

/** The nodes that can be seen, by shade. */
function inSight(scene: Scene, palette: Palette, sight: Box): number[][] {
  const {boxes, graph} = scene.layout;
  const batches: number[][] = palette.shades.map(() => []);
  for (let node = 0; node < graph.nodes; node++) {
    const at = node * 4;
    const width = boxes[at + 2];
    if (!width || boxes[at] > sight.x + sight.width || boxes[at] + width < sight.x ||
        boxes[at + 1] > sight.y + sight.height || boxes[at + 1] + boxes[at + 3] < sight.y) continue;
    batches[scene.shading.nodes[node]].push(node);
  }
  return batches;
}

function cells(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette, batches: number[][]): void {
  const {boxes} = scene.layout;
  // Too small to be told apart: no gaps, and what is bad is made large enough to be seen.
  const grow = view.k < 0.25 ? 2 : 0;
  batches.forEach((batch, shade) => {
    const least = SHADES[scene.mode][shade].bad ? LEAST / view.k : 0;
    context.fillStyle = palette.shades[shade];
    for (const node of batch) {
      const at = node * 4;
      const width = Math.max(boxes[at + 2] + grow, least);
      const height = Math.max(boxes[at + 3] + grow, least);
      context.fillRect(boxes[at], boxes[at + 1], width, height);
    }
  });
}

/** More cells than this are written pixel by pixel: many times faster than as many rectangles, and they are small. */
const MANY = 20_000;

/** A colour of the style sheet, "#rrggbb", as a pixel. */
function pixelOf(colour: string): number {
  const value = Number.parseInt(colour.slice(1, 7), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** Relative luminance of a colour of the style sheet, and the contrast of two (WCAG 2.2). */
function luminance(colour: string): number {
  const part = (at: number) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Kept, for it is as large as the canvas. */
let image: ImageData | undefined;

function dots(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette, batches: number[][], ratio: number): void {
  const {width, height} = context.canvas;
  if (image?.width !== width || image.height !== height) image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(pixelOf(palette.background));
  const [scale, left, top] = [view.k * ratio, view.x * ratio, view.y * ratio];
  const {boxes} = scene.layout;
  batches.forEach((batch, shade) => {
    const colour = pixelOf(palette.shades[shade]);
    const least = SHADES[scene.mode][shade].bad ? LEAST * ratio : 1;
    for (const node of batch) {
      const at = node * 4;
      const x = Math.max(0, Math.round(boxes[at] * scale + left));
      const y = Math.max(0, Math.round(boxes[at + 1] * scale + top));
      const right = Math.min(width, Math.round(x + Math.max(boxes[at + 2] * scale, least)));
      const bottom = Math.min(height, Math.round(y + Math.max(boxes[at + 3] * scale, least)));
      for (let row = y; row < bottom; row++) pixels.fill(colour, row * width + x, row * width + right);
    }
  });
  context.putImageData(image, 0, 0);
}

function centre(layout: Layout, node: number): [number, number] {
  const at = node * 4;
  return [layout.boxes[at] + layout.boxes[at + 2] / 2, layout.boxes[at + 1] + layout.boxes[at + 3] / 2];
}

/** Where a line from the node's centre to that place leaves its box: over it the line would cross the name. */
function edge(layout: Layout, node: number, [towardsX, towardsY]: [number, number]): [number, number] {
  const [x, y] = centre(layout, node);
  const [along, up] = [towardsX - x, towardsY - y];
  const halves = Math.max(Math.abs(along) / layout.boxes[node * 4 + 2], Math.abs(up) / layout.boxes[node * 4 + 3]) * 2;
  const share = halves > 1 ? 1 / halves : 1;
  return [x + along * share, y + up * share];
}

function trace(context: CanvasRenderingContext2D, layout: Layout, links: Iterable<number>): void {
  context.beginPath();
  for (const link of links) {
    const a = endA(layout.graph, link);
    const b = endB(layout.graph, link);
    if (!layout.boxes[a * 4 + 2] || !layout.boxes[b * 4 + 2]) continue;
    // Along a row the line would lie on others' cells, and says nothing that the row does not.
    if (layout.boxes[a * 4 + 1] === layout.boxes[b * 4 + 1] && !isTrunk(layout.graph, link)) continue;
    context.moveTo(...edge(layout, a, centre(layout, b)));
    context.lineTo(...edge(layout, b, centre(layout, a)));
  }
  context.stroke();
}

const isTrunk = (graph: Graph, link: number) => isSwitch(graph, endA(graph, link)) && isSwitch(graph, endB(graph, link));

function allLinks(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette): void {
  const {graph} = scene.layout;
  if (graph.links > FEW_LINKS) return;
  context.strokeStyle = palette.link;
  context.lineWidth = 0.6 / view.k;
  const trunks: number[] = [];
  for (let link = 0; link < graph.links; link++) if (isTrunk(graph, link)) trunks.push(link);
  trace(context, scene.layout, trunks);
}

/** Links that look bad, the worst last. */
export function badLinks(graph: Graph, shading: Shading, mode: Mode): number[] {
  const found: number[] = [];
  for (let shade = SHADES[mode].length - 1; shade >= 0; shade--) {
    if (!SHADES[mode][shade].bad) continue;
    for (let link = 0; link < graph.links && found.length < MOST_LINKS; link++)
      if (shading.links[link] === shade) found.push(link);
  }
  return found.reverse();
}

function markedLinks(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette): void {
  const {bad} = scene;
  // Many would hide the nodes that they lead to.
  const areMany = bad.length > MOST_LINKS / 5;
  context.lineWidth = (areMany ? 0.8 : 1.8) / view.k;
  context.globalAlpha = areMany ? 0.4 : 1;
  for (let shade = 0; shade < palette.shades.length; shade++) {
    context.strokeStyle = palette.shades[shade];
    trace(context, scene.layout, bad.filter((link) => scene.shading.links[link] === shade));
  }
  context.globalAlpha = 1;
  if (scene.selectedLink >= 0) {
    context.strokeStyle = palette.focus;
    context.lineWidth = 5 / view.k;
    trace(context, scene.layout, [scene.selectedLink]);
    context.strokeStyle = palette.shades[scene.shading.links[scene.selectedLink]];
    context.lineWidth = 2 / view.k;
    trace(context, scene.layout, [scene.selectedLink]);
  }
  context.lineWidth = 2 / view.k;
  for (const [link, colour] of scene.blamed) {
    context.strokeStyle = colour;
    trace(context, scene.layout, [link]);
  }
  if (scene.selectedLink >= 0) return;
  for (const node of new Set([scene.selected, scene.hovered])) {
    if (node < 0) continue;
    context.strokeStyle = palette.focus;
    context.lineWidth = 1.2 / view.k;
    trace(context, scene.layout, linksOf(scene.layout.graph, node));
  }
}

/** Of the ground around a mark, in pixels of the screen: its colour alone differs too little from that of cells that are well. */
const HALO = 2;

/** What is bad keeps its size on the screen, on a ground of its own; where that is smaller than its cell, the cell tells. */
function badMarks(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette, size: number): void {
  if (size <= LEAST) return; // so many that they would hide all others
  const {layout, shading} = scene;
  const marked = scene.badNodes.filter((node) => isMarked(layout, node, view, size));
  const square = (node: number, beyond: number) => {
    const at = node * 4;
    const [width, height] = [2, 3].map((side) => Math.max(layout.boxes[at + side], size / view.k) + (2 * beyond) / view.k);
    const [x, y] = centre(layout, node);
    context.fillRect(x - width / 2, y - height / 2, width, height);
  };
  context.fillStyle = palette.background;
  for (const node of marked) square(node, HALO);
  for (const node of marked) {
    context.fillStyle = palette.shades[shading.nodes[node]];
    square(node, 0);
  }
}

function marks(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette, size: number): void {
  const ring = (node: number, colour: string, away: number, thick: number) => {
    const at = node * 4;
    const {boxes} = scene.layout;
    if (!boxes[at + 2]) return;
    const least = Math.max(7, size) / view.k;
    const width = Math.max(boxes[at + 2], least);
    const height = Math.max(boxes[at + 3], least);
    const gap = away / view.k;
    context.strokeStyle = colour;
    context.lineWidth = thick / view.k;
    context.strokeRect(boxes[at] + boxes[at + 2] / 2 - width / 2 - gap, boxes[at + 1] + boxes[at + 3] / 2 - height / 2 - gap,
                       width + 2 * gap, height + 2 * gap);
  };
  for (const [node, colour] of scene.rings) ring(node, colour, 2, 1.5);
  if (scene.hovered >= 0) ring(scene.hovered, palette.text, 1, 1);
  for (const node of new Set([...scene.siblings, scene.selected])) {
    if (node < 0) continue;
    ring(node, palette.background, 3, 4);
    ring(node, palette.focus, 3, 2);
  }
}

function labels(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette, sight: Box): void {
  const {layout} = scene;
  context.textBaseline = 'alphabetic';
  // The first of the texts that there is room for.
  const write = (texts: string[], x: number, y: number, most: number, size: number, colour: string) => {
    if (size * view.k < SMALLEST_LABEL) return;
    context.font = `${size}px system-ui, sans-serif`;
    const text = texts.find((each) => each && context.measureText(each).width <= most);
    if (!text) return;
    context.fillStyle = palette.background;
    context.fillRect(x, y - size, context.measureText(text).width, size * 1.25);
    context.fillStyle = colour;
    context.fillText(text, x, y);
  };
  // Labels keep their size on the screen until there is room for the drawing's own.
  const size = Math.min(11, Math.max(4, 10 / view.k));
  for (const group of layout.groups) if (meets(group, sight)) write([group.label, group.short], group.x, group.y + 10, group.width, size, palette.muted);
  const large = Math.max(10, 11 / view.k);
  for (const pod of layout.pods) {
    if (!meets(pod, sight)) continue;
    // Of a pod that is small on the screen the name stands on its outline, where there is room beside its switches; else within.
    const isSmall = large > 22;
    if (isSmall && POD_MARGIN * view.k < 5) continue;
    const [x, y] = isSmall ? [pod.x + 8 / view.k, pod.y + large * 0.35] : [pod.x + 6, pod.y + large];
    write([pod.label, pod.short], x, y, pod.width - (x - pod.x), large, palette.muted);
  }
  switchLabels(context, scene, view, palette, sight);
}

/** From so large a view on there is room for a word in the box of a leaf, and then for two lines in that of any switch. */
const [ONE_LINE_FROM, TWO_LINES_FROM] = [1, 2.2];

/** The names of switches, and the rails of leaves. */
function switchLabels(context: CanvasRenderingContext2D, scene: Scene, view: View, palette: Palette, sight: Box): void {
  if (view.k < ONE_LINE_FROM) return;
  const {boxes, graph} = scene.layout;
  const inks = palette.shades.map((shade) => (contrast(palette.text, shade) > contrast(palette.background, shade) ? palette.text : palette.background));
  const isLarge = view.k >= TWO_LINES_FROM;
  const size = isLarge ? 3.6 : SMALLEST_LABEL / view.k;
  context.font = `${size}px system-ui, sans-serif`;
  for (let node = 0; node < graph.nodes; node++) {
    if (!isSwitch(graph, node)) continue;
    const [x, y, width, height] = boxes.subarray(node * 4, node * 4 + 4);
    if (!width || !meets({x, y, width, height, label: '', short: ''}, sight)) continue;
    const name = graph.map.names[node];
    const rail = graph.rank[node] === 1 ? railOf(graph, node) : undefined;
    const lines = isLarge ? [name.length > 14 ? `${name.slice(0, 13)}…` : name] : [];
    if (rail !== undefined) lines.push(`rail ${rail}`);
    if (!lines.length && context.measureText(name).width <= width - 3) lines.push(name);
    context.fillStyle = inks[scene.shading.nodes[node]];
    lines.forEach((line, index) => context.fillText(line, x + 1.5, y + (height * (index + 0.5)) / lines.length + size * 0.36, width - 3));
  }
}
