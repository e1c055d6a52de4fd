// SPDX-License-Identifier: Apache-2.0
// The drawing of the fabric: pan and zoom by mouse, finger or keyboard, colours to choose, a click leads on.

import {quadtree, type Quadtree} from 'd3-quadtree';
import {select} from 'd3-selection';
import {zoom, zoomIdentity, type D3ZoomEvent, type ZoomBehavior} from 'd3-zoom';
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {badList, badNodes, markAt, markSize, NOTHING_BAD, type BadList} from './bad_nodes';
import {busiestOf, NOTHING_BUSY, type Busiest} from './busiest';
import {SHADES, shade, type Mode, type Shading} from './colours';
import {endA, endB, isSwitch, linkAt, makeGraph, podOf, portOf, railOf} from './graph';
import {makeLayout, type Layout} from './layout';
import {shardShown, useLive} from './live';
import {badLinks, paint, readPalette, type Scene, type View} from './paint';
import {go, toNode, toPort, toStall} from './route';
import type {FabricMap, FabricState, Incident, Severity} from './types';
import {grouped} from './words';

const MODES: {mode: Mode; label: string}[] = [
  {mode: 'state', label: 'State'},
  {mode: 'traffic', label: 'Traffic'},
  {mode: 'stall', label: 'Stall'},
  {mode: 'errors', label: 'Errors'},
];
const NEAR = 6;
/** Shapes of the drawing: the one nearest to the window's is taken, so that it does not jump while a window is resized. */
const ASPECTS = [0.5, 0.7, 1, 1.4, 2, 2.8];

function nearest(aspect: number): number {
  return ASPECTS.reduce((best, each) => (Math.abs(Math.log(each / aspect)) < Math.abs(Math.log(best / aspect)) ? each : best));
}

type Centre = {node: number; x: number; y: number};

function centresOf(layout: Layout): Quadtree<Centre> {
  const centres: Centre[] = [];
  for (let node = 0; node < layout.graph.nodes; node++) {
    const at = node * 4;
    if (!layout.boxes[at + 2]) continue;
    centres.push({node, x: layout.boxes[at] + layout.boxes[at + 2] / 2, y: layout.boxes[at + 1] + layout.boxes[at + 3] / 2});
  }
  return quadtree<Centre>(centres, (each) => each.x, (each) => each.y);
}

/** The canvas and what it remembers between two draws; everything else is Preact's. */
class Drawing {
  view: View = {x: 0, y: 0, k: 1};
  scene?: Scene;
  centres?: Quadtree<Centre>;
  frames = 0;
  private wanted = 0;
  private readonly zooming: ZoomBehavior<HTMLCanvasElement, unknown>;
  private readonly context: CanvasRenderingContext2D;
  private moved = false;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', {alpha: false}) as CanvasRenderingContext2D;
    this.zooming = zoom<HTMLCanvasElement, unknown>().on('zoom', (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
      this.view = {x: event.transform.x, y: event.transform.y, k: event.transform.k};
      this.moved ||= event.sourceEvent !== null;
      this.draw();
    });
    select(canvas).call(this.zooming).on('dblclick.zoom', null);
  }

  get width(): number {
    return this.canvas.clientWidth;
  }
  get height(): number {
    return this.canvas.clientHeight;
  }

  /** At the next frame, once. */
  draw(): void {
    if (this.wanted) return;
    this.wanted = requestAnimationFrame(() => {
      this.wanted = 0;
      if (!this.scene || !this.width) return;
      const ratio = Math.min(devicePixelRatio || 1, 2);
      const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
      if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, {width, height});
      paint(this.context, this.scene, this.view, readPalette(this.canvas, this.scene.mode), this.width, this.height, ratio);
      this.canvas.dataset.frames = String(++this.frames);
    });
  }

  fit(): void {
    if (!this.scene || !this.width) return;
    const {layout} = this.scene;
    const margin = 16;
    const k = Math.min((this.width - 2 * margin) / layout.width, (this.height - 2 * margin) / layout.height, 4);
    this.zooming.scaleExtent([Math.min(k, 1) * 0.8, 12]);
    const x = (this.width - layout.width * k) / 2;
    const y = Math.max(margin, (this.height - layout.height * k) / 2);
    select(this.canvas).call(this.zooming.transform, zoomIdentity.translate(x, y).scale(k));
    this.moved = false;
  }

  /** The whole again, unless somebody moved it. */
  resize(): void {
    if (this.moved) this.draw();
    else this.fit();
  }

  scale(by: number): void {
    this.moved = true;
    select(this.canvas).call(this.zooming.scaleBy, by);
  }

  show(node: number): void {
    if (!this.scene) return;
    const at = node * 4;
    const {boxes} = this.scene.layout;
    const [x, y] = [boxes[at] * this.view.k + this.view.x, boxes[at + 1] * this.view.k + this.view.y];
    if (x > 20 && y > 20 && x < this.width - 20 && y < this.height - 20) return this.draw();
    select(this.canvas).call(this.zooming.translateTo, boxes[at], boxes[at + 1]);
  }

  nodeAt(x: number, y: number): number {
    if (!this.scene || !this.centres) return -1;
    const {layout, badNodes: bad} = this.scene;
    const marked = markAt(layout, bad, this.view, markSize(bad.length, this.width, this.height), x, y);
    if (marked >= 0) return marked;
    const {boxes} = layout;
    const [left, top] = [(x - this.view.x) / this.view.k, (y - this.view.y) / this.view.k];
    const found = this.centres.find(left, top, 16 + NEAR / this.view.k);
    if (!found) return -1;
    const at = found.node * 4;
    const slack = Math.max(2, NEAR / this.view.k);
    const inside = left >= boxes[at] - slack && left <= boxes[at] + boxes[at + 2] + slack &&
                   top >= boxes[at + 1] - slack && top <= boxes[at + 1] + boxes[at + 3] + slack;
    return inside ? found.node : -1;
  }

  /** A bad link under the pointer, or -1. */
  linkAt(x: number, y: number): number {
    const scene = this.scene;
    if (!scene) return -1;
    const [px, py] = [(x - this.view.x) / this.view.k, (y - this.view.y) / this.view.k];
    const middle = (node: number) => {
      const at = node * 4;
      const {boxes} = scene.layout;
      return [boxes[at] + boxes[at + 2] / 2, boxes[at + 1] + boxes[at + 3] / 2];
    };
    let best = -1;
    let nearest = NEAR / this.view.k;
    for (const link of [...scene.bad, ...scene.blamed.keys()]) {
      const [ax, ay] = middle(endA(scene.layout.graph, link));
      const [bx, by] = middle(endB(scene.layout.graph, link));
      const length = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
      const along = Math.max(0, Math.min(1, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length));
      const away = Math.hypot(px - ax - along * (bx - ax), py - ay - along * (by - ay));
      if (away < nearest) [best, nearest] = [link, away];
    }
    return best;
  }

  /** The nearest node in that direction; what lies aside counts double. */
  neighbour(from: number, dx: number, dy: number): number {
    if (!this.scene) return -1;
    const {boxes, graph} = this.scene.layout;
    let best = from;
    let least = Infinity;
    for (let node = 0; node < graph.nodes; node++) {
      if (node === from || !boxes[node * 4 + 2]) continue;
      const x = boxes[node * 4] - boxes[from * 4];
      const y = boxes[node * 4 + 1] - boxes[from * 4 + 1];
      const along = x * dx + y * dy;
      const aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (along <= 0 || aside > along * 3) continue;
      if (along + 2 * aside < least) [best, least] = [node, along + 2 * aside];
    }
    return best;
  }

  stop(): void {
    cancelAnimationFrame(this.wanted);
    select(this.canvas).on('.zoom', null);
  }
}

const WORDS: Record<string, string> = {h: 'healthy', d: 'degraded', b: 'unhealthy', u: 'no fresh data', x: 'unreachable'};

export function describe(layout: Layout, shading: Shading, state: FabricState, mode: Mode, node: number): string {
  const {map} = layout.graph;
  const verdict = WORDS[state.nodes?.[node] ?? 'u'];
  const more = mode === 'state' ? '' : `, ${mode} ${SHADES[mode][shading.nodes[node]].label}`;
  const [pod, rail] = [podOf(layout.graph, node), railOf(layout.graph, node)];
  return `${map.names[node]}: ${verdict}${more}${pod === undefined ? '' : `, pod ${pod}`}${rail === undefined ? '' : `, rail ${rail}`}`;
}

/** The host's adapters. */
function siblingsOf({graph: {map}}: Layout, host: string): number[] {
  return host ? map.guids.map((_, node) => node).filter((node) => map.hosts[node] === host && map.types[node] === 'C') : [];
}

function ringsOf(layout: Layout, incidents: Incident[], colour: (severity: string) => string) {
  const rings = new Map<number, string>();
  const blamed = new Map<number, string>();
  for (const severity of ['INFO', 'WARNING', 'CRITICAL']) {
    for (const incident of incidents) {
      if (incident.severity !== severity || !incident.cause) continue;
      const {nodeGuid, peerGuid, port, kind} = incident.cause;
      const node = layout.graph.byGuid.get(nodeGuid);
      if (node === undefined) continue;
      rings.set(node, colour(severity));
      const peer = layout.graph.byGuid.get(peerGuid);
      if (peer !== undefined) rings.set(peer, colour(severity));
      if (kind === 'LINK' || kind === 'PORT') blamed.set(linkAt(layout.graph, node, port), colour(severity));
    }
  }
  blamed.delete(-1);
  return {rings, blamed};
}

const RINGS: Severity[] = ['CRITICAL', 'WARNING', 'INFO'];

/** `ringed`: severities of the open incidents whose nodes have an outline. */
function Legend({mode, shading, ringed}: {mode: Mode; shading: Shading; ringed: Severity[]}) {
  return (
    <ul class="legend" aria-label="Legend">
      {SHADES[mode].map((each, index) => (
        <li key={each.style}>
          <span class={`swatch ${each.style.slice(2)}`} />
          {each.label} <b>{grouped(String(shading.counts[index]))}{each.bad && shading.cables[index] > 0 &&
            `, ${grouped(String(shading.cables[index]))} ${shading.cables[index] === 1 ? 'cable' : 'cables'}`}</b>
        </li>
      ))}
      {ringed.map((severity) => (
        <li key={severity}><span class="swatch" style={{borderColor: `var(--ring-${severity.toLowerCase()})`, borderWidth: '2px'}} />outline: {severity.toLowerCase()} incident</li>
      ))}
    </ul>
  );
}

interface Props {
  map: FabricMap;
  state: FabricState;
  /** GUID of the node that the reader looks at, and the port, or -1. */
  selected: string;
  port: number;
  /** Of the host that the reader looks at all adapters are marked; empty: none. */
  host: string;
  /** Told what is drawn as bad, whenever that changes. */
  onBad: (bad: BadList) => void;
  /** Told what the cables carry, whenever that changes. */
  onBusy: (busiest: Busiest) => void;
}

const MODE = 'weft-map';

/** As it was chosen last in this tab: whoever comes back from an incident sees the same map. */
function modeOfBefore(): Mode {
  return MODES.find(({mode}) => mode === sessionStorage.getItem(MODE))?.mode ?? 'state';
}

export function MapView({map, state, selected, port, host, onBad, onBusy}: Props) {
  const {incidents: known} = useLive();
  // Fabrics of two shards may have nodes of the same GUID.
  const shard = shardShown();
  const incidents = useMemo(() => (known ?? []).filter((each) => !each.shard || !shard || each.shard === shard), [known, shard]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing>();
  const [mode, setMode] = useState<Mode>(modeOfBefore);
  const [tip, setTip] = useState<{node: number; x: number; y: number}>();
  const [cursor, setCursor] = useState(-1);
  const [aspect, setAspect] = useState(1.4);

  const graph = useMemo(() => makeGraph(map), [map]);
  const layout = useMemo(() => makeLayout(graph, aspect), [graph, aspect]);
  const centres = useMemo(() => centresOf(layout), [layout]);
  const shading = useMemo(() => shade(layout.graph, state, mode), [layout, state, mode]);
  const marked = useMemo(() => ringsOf(layout, incidents, (severity) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--ring-${severity.toLowerCase()}`).trim()), [layout, incidents]);
  const bad = useMemo(() => badLinks(layout.graph, shading, mode), [layout, shading]);
  const badOnes = useMemo(() => badNodes(layout, shading, mode), [layout, shading]);
  const chosen = layout.graph.byGuid.get(selected) ?? cursor;
  const siblings = useMemo(() => siblingsOf(layout, host), [layout, host]);

  useEffect(() => {
    const made = new Drawing(canvas.current as HTMLCanvasElement);
    drawing.current = made;
    const observer = new ResizeObserver(() => {
      setAspect(nearest(made.width / Math.max(1, made.height)));
      made.resize();
    });
    observer.observe(canvas.current as HTMLCanvasElement);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => made.draw();
    dark.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', redraw);
      made.stop();
    };
  }, []);

  useEffect(() => {
    const made = drawing.current;
    if (!made) return;
    const first = made.scene?.layout !== layout;
    made.centres = centres;
    const selectedLink = selected && port >= 0 && chosen >= 0 ? linkAt(layout.graph, chosen, port) : -1;
    made.scene = {layout, shading, mode, selected: chosen, siblings, selectedLink, hovered: tip?.node ?? -1, ...marked, bad, badNodes: badOnes};
    if (first) made.fit();
    made.draw();
  }, [layout, centres, shading, mode, chosen, siblings, port, tip?.node, marked, bad, badOnes]);

  useEffect(() => onBad(badList(layout, shading, mode, badOnes)), [badOnes]);
  useEffect(() => onBusy(busiestOf(graph, state)), [graph, state]);
  useEffect(() => () => {
    onBad(NOTHING_BAD);
    onBusy(NOTHING_BUSY);
  }, []);

  useEffect(() => {
    if (chosen >= 0) drawing.current?.show(chosen);
  }, [chosen]);

  const open = (node: number) => go(toNode(map.guids[node]));
  const onKey = (event: KeyboardEvent) => {
    const made = drawing.current;
    const arrows: Record<string, [number, number]> = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const arrow = arrows[event.key];
    if (!made || event.ctrlKey || event.altKey || event.metaKey) return;
    if (arrow) {
      const from = chosen >= 0 ? chosen : 0;
      const next = chosen >= 0 ? made.neighbour(from, ...arrow) : [...map.types].findIndex((_, node) => isSwitch(layout.graph, node));
      if (selected) open(next);
      else setCursor(next);
    } else if (event.key === 'Enter' && chosen >= 0) open(chosen);
    else if (event.key === '+' || event.key === '=') made.scale(1.4);
    else if (event.key === '-') made.scale(1 / 1.4);
    else if (event.key === '0') made.fit();
    else return;
    event.preventDefault();
  };
  const onMove = (event: PointerEvent) => {
    if (event.pointerType === 'touch') return;
    const node = drawing.current?.nodeAt(event.offsetX, event.offsetY) ?? -1;
    setTip(node >= 0 ? {node, x: event.offsetX, y: event.offsetY} : undefined);
  };
  const onClick = (event: MouseEvent) => {
    const node = drawing.current?.nodeAt(event.offsetX, event.offsetY) ?? -1;
    if (node >= 0) return open(node);
    const link = drawing.current?.linkAt(event.offsetX, event.offsetY) ?? -1;
    if (link >= 0) go(toPort(map.guids[endA(layout.graph, link)], portOf(layout.graph, link, endA(layout.graph, link))));
  };

  const switches = [...map.types].filter((type) => type === 'S').length;
  const adapters = [...map.types].filter((type) => type === 'C').length;
  return (
    <section class="map" aria-label={`Fabric ${map.fabric}`}>
      <div class="map-bar">
        <div class="choice" role="radiogroup" aria-label="Colour by">
          {MODES.map((each) => (
            <label key={each.mode}>
              <input type="radio" name="mode" checked={mode === each.mode} onChange={() => {
                sessionStorage.setItem(MODE, each.mode);
                setMode(each.mode);
              }} />
              <span>{each.label}</span>
            </label>
          ))}
        </div>
        <Legend mode={mode} shading={shading} ringed={RINGS.filter((severity) => incidents.some((each) => each.severity === severity && each.cause))} />
        {mode === 'stall' && <a href={toStall()}>Over time</a>}
        <div class="zoom">
          <button type="button" aria-label="Zoom in" onClick={() => drawing.current?.scale(1.4)}>+</button>
          <button type="button" aria-label="Zoom out" onClick={() => drawing.current?.scale(1 / 1.4)}>−</button>
          <button type="button" aria-label="Show all" onClick={() => drawing.current?.fit()}>⤢</button>
        </div>
      </div>
      <div class="map-area">
        <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription="map of the fabric"
          aria-label={`${switches} switches, ${adapters} adapters. Arrow keys go from node to node, Enter opens one, plus and minus zoom, 0 shows all.`}
          onKeyDown={onKey} onPointerMove={onMove} onPointerLeave={() => setTip(undefined)} onClick={onClick} />
        {tip && (
          <div class="tip" style={{transform: `translate(${tip.x + 12}px, ${tip.y + 14}px)`}}>
            {describe(layout, shading, state, mode, tip.node)}
          </div>
        )}
        <p class="unseen" aria-live="polite">{cursor >= 0 && describe(layout, shading, state, mode, cursor)}</p>
      </div>
    </section>
  );
}
