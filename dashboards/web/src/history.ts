// SPDX-License-Identifier: Apache-2.0
// What ports counted over hours and days: the time that is shown, the question, and numbers in the form that charts draw.

import {Failure, get, weftdNow} from './api';
import {usePolled} from './live';
import type {Severity} from './types';

/** The last so many seconds, or from a time to another, in seconds since 1970. */
export type Span = {last: number} | {from: number; to: number};

export const SPANS = [{name: '1 h', last: 3600}, {name: '24 h', last: 86_400}, {name: '30 d', last: 30 * 86_400}];
export const USUAL: Span = {last: SPANS[0].last};

export interface CounterHistory {
  counter: string;
  unit: string;
  total: string;
  atLeast: boolean;
  bucket: number[];
  rate: number[];
  peak: number[];
}

/** What goes up and down, in watts, amperes or degrees Celsius. */
export interface GaugeHistory {
  gauge: string;
  unit: string;
  bucket: number[];
  last: number[];
  low: number[];
  high: number[];
}

export interface PortHistory {
  node: string;
  nodeGuid: string;
  port: number;
  label: string;
  peer: string;
  counters: CounterHistory[];
  /** Not told by a weftd of the version before. */
  gauges?: GaugeHistory[];
}

/** An incident that was re-opened has one for each time. */
export interface Mark {
  kind: 'INCIDENT' | 'PLAN' | 'MAINTENANCE';
  id: string;
  from?: string;
  until?: string;
  text: string;
  severity: Severity;
}

export const keyOf = ({id, from}: Mark) => `${id} ${from}`;

/** Of all of them, each once. */
export function marksOf(...histories: (Pick<History, 'marks'> | undefined)[]): Mark[] {
  return [...new Map(histories.flatMap((each) => each?.marks ?? []).map((mark) => [keyOf(mark), mark])).values()];
}

/** The time that is told, cut into equal parts. */
export interface Buckets {
  from: string;
  step: string;
  buckets: number;
}

export interface History extends Buckets {
  ports: PortHistory[];
  marks: Mark[];
}

/** A number for each bucket of time, or null where nothing was read. */
export type Values = (number | null)[];

export function spanQuery(span: Span): string {
  return 'last' in span ? `?last=${span.last}` : `?from=${Math.floor(span.from)}&to=${Math.ceil(span.to)}`;
}

export function parseSpan(query: string): Span {
  const given = new URLSearchParams(query);
  const [last, from, to] = ['last', 'from', 'to'].map((name) => Number(given.get(name)));
  if (last > 0) return {last};
  return from > 0 && to > from ? {from, to} : USUAL;
}

const AT_ONCE = 300;

/**
 * The time of something, with what led to it and what came after; without an end it goes on. Times are RFC 3339. The same for some minutes,
 * so that what is asked for again is the same.
 */
export function around(begin: string, end?: string): Span {
  const present = Math.ceil(weftdNow() / 1000 / AT_ONCE) * AT_ONCE;
  const [from, to] = [Date.parse(begin) / 1000, end ? Date.parse(end) / 1000 : present];
  const margin = Math.max(AT_ONCE, (to - from) / 4);
  return {from: Math.floor(from - margin), to: Math.ceil(Math.min(to + margin, present))};
}

export function boundsOf(span: Span): {from: number; to: number} {
  const to = weftdNow() / 1000;
  return 'last' in span ? {from: to - span.last, to} : span;
}

/** Buckets that a chart has room for, so that they are of 30 s in an hour, of 5 min in a day, of 2 h in a month; two more for the ends. */
function pointsOf(length: number): number {
  return length <= 3600 ? 122 : length <= 86_400 + 60 ? 290 : 362;
}

/** New numbers come once in a bucket; of a time that is over there are none. */
function everyMs(span: Span): number {
  if ('from' in span && span.to < weftdNow() / 1000 - 600) return 600_000;
  const {from, to} = boundsOf(span);
  return Math.min(300_000, Math.max(10_000, ((to - from) / pointsOf(to - from)) * 500));
}

/** Of one port ("0x…/12") or of all ports of a node. With `counters`, of those only, and of those that stood still no buckets. */
function readHistory(of: string, span: Span, counters: string[], points?: number): Promise<History> {
  const {from, to} = boundsOf(span);
  const query = new URLSearchParams({from: String(Math.floor(from)), points: String(points ?? pointsOf(to - from))});
  if (!counters.length) query.set('still', '1');
  if ('to' in span) query.set('to', String(Math.ceil(to)));
  if (counters.length) query.set('counters', counters.join(','));
  return get<History>(`/api/v1/ports/${of.split('/').map(encodeURIComponent).join('/')}/history?${query}`);
}

/** While the component is shown. */
export function useHistory(of: string, span: Span, counters: string[] = [], points?: number) {
  const key = `history ${of} ${spanQuery(span)} ${counters} ${points}`;
  return usePolled<History>(key, everyMs(span), () => readHistory(of, span, counters, points));
}

/** Nothing is known of it; after any other failure it may be. */
const isUnknown = (error: unknown) => error instanceof Failure && error.status === 404;

/** Of single ports ("0x…/12") as one answer, while the component is shown. A port that nothing is known of is left out. */
export function usePortHistories(ports: string[], span: Span, counters: string[], points: number) {
  return usePolled<History>(`histories ${ports} ${spanQuery(span)} ${counters} ${points}`, everyMs(span), async () => {
    const answers: History[] = [];
    for (const port of ports) {
      try {
        answers.push(await readHistory(port, span, counters, points));
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
    if (!answers.length) throw new Failure(404, 'nothing is stored');
    return {...answers[0], ports: answers.flatMap((each) => each.ports), marks: marksOf(...answers)};
  });
}

export interface StallRow {
  node: string;
  nodeGuid: string;
  share: number;
  worstPort: number;
  bucket: number[];
  bucketShare: number[];
}

/** How long the switches of a fabric waited to send, the worst first. */
export interface StallMap extends Buckets {
  fabric: string;
  rows: StallRow[];
  switches: number;
  readEvery: number;
}

/** Of the switches of a fabric, as many rows as that at most. */
export function useStallMap(fabric: string, span: Span, rows: number) {
  const {from, to} = boundsOf(span);
  return usePolled<StallMap>(`stall ${fabric} ${spanQuery(span)} ${rows}`, everyMs(span), () => {
    const query = new URLSearchParams({fabric, rows: String(rows), points: to - from <= 3600 ? '62' : '124', from: String(Math.floor(boundsOf(span).from))});
    if ('to' in span) query.set('to', String(Math.ceil(span.to)));
    return get<StallMap>(`/api/v1/switches/stall?${query}`);
  });
}

/** Of the ports at both ends of a cable. The other end may be one that nothing is stored of. */
export function useLinkHistory(port: string, peer: string, span: Span) {
  return usePolled<{near: History; far?: History}>(`history ${port} ${peer} ${spanQuery(span)}`, everyMs(span), async () => {
    const near = await readHistory(port, span, []);
    try {
      return {near, far: peer ? await readHistory(peer, span, []) : undefined};
    } catch (error) {
      if (isUnknown(error)) return {near};
      throw error;
    }
  });
}

/** When it ends, as RFC 3339: not ahead of now. */
export function endOf(history: Buckets): string {
  const end = Date.parse(history.from) + history.buckets * stepOf(history) * 1000;
  return new Date(Math.min(end, weftdNow())).toISOString();
}

/** The middles of the buckets, in seconds since 1970. */
export function timesOf(history: Buckets): number[] {
  const [begin, step] = [Date.parse(history.from) / 1000, stepOf(history)];
  return Array.from({length: history.buckets}, (_, index) => begin + (index + 0.5) * step);
}

export function stepOf(history: Buckets): number {
  return Number.parseFloat(history.step);
}

export function valuesOf(history: History, counter: CounterHistory | undefined, which: 'rate' | 'peak', scale = 1): Values {
  const values: Values = new Array(history.buckets).fill(null);
  counter?.bucket.forEach((bucket, index) => { values[bucket] = counter[which][index] * scale; });
  return values;
}

/** `scaled` makes of a value what is drawn. */
export function gaugeValues(history: History, gauge: GaugeHistory, which: 'last' | 'low' | 'high', scaled: (value: number) => number): Values {
  const values: Values = new Array(history.buckets).fill(null);
  gauge.bucket.forEach((bucket, index) => { values[bucket] = scaled(gauge[which][index]); });
  return values;
}

export const gaugeOf = (port: PortHistory | undefined, name: string) => port?.gauges?.find((each) => each.gauge === name);
export const counterOf = (port: PortHistory | undefined, name: string) => port?.counters.find((each) => each.counter === name);

/**
 * The mean rate over the time in which the counter was read, however long the buckets are: each counts by how much of it was read. The last
 * one ends `now`, in milliseconds since 1970; the first one is as long as the others leave of the total; those between are whole.
 */
export function meanRate(history: Buckets, counter: CounterHistory | undefined, now = Date.now()): number {
  const {bucket = [], rate = [], total = '0'} = counter ?? {};
  if (!bucket.length) return 0;
  const [step, begin] = [stepOf(history), Date.parse(history.from) / 1000];
  const within = (seconds: number, most: number) => Math.max(0, Math.min(most, seconds));
  const covered = bucket.map((each) => within(now / 1000 - begin - each * step, step));
  const sumOf = (values: number[]) => values.reduce((sum, each) => sum + each, 0);
  const grown = () => sumOf(rate.map((each, index) => each * covered[index]));
  if (rate[0] > 0) covered[0] = within((Number(total) - grown()) / rate[0] + covered[0], covered[0]);
  return grown() / (sumOf(covered) || 1);
}
