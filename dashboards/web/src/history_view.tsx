// SPDX-License-Identifier: Apache-2.0
// The history of a cable and both its ports: traffic, stall, errors and flaps, and what happened meanwhile.

import {useMemo, useState} from 'preact/hooks';
import {weftdNow, type Failure} from './api';
import {Chart, LINE_COLOURS, markColour, type Line} from './chart';
import {
  around, boundsOf, counterOf, gaugeOf, gaugeValues, keyOf, marksOf, meanRate, SPANS, stepOf, timesOf, useLinkHistory, valuesOf,
  type CounterHistory, type GaugeHistory, type History, type Mark, type PortHistory, type Span,
} from './history';
import {go, toIncident, toPlan, toPort} from './route';
import type {Entity} from './types';
import {amount, BASE_GAUGES, counterName, often, share, short} from './units';
import {bits, clock, plain, seconds} from './words';

const FLAPS = ['link_downed', 'link_error_recovery'];

const largest = (values: number[]) => values.reduce((most, each) => Math.max(most, each), 0);

/** The next of 1, 2, 5, 10, … above. */
function rounded(most: number): number {
  const step = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((each) => each * step).find((each) => each >= most * 0.999) ?? most;
}

function rateLine(history: History, counter: CounterHistory | undefined, name: string, colour: number, scale: number, text: (value: number) => string): Line[] {
  if (!counter?.bucket.length) return [];
  return [{
    name, colour, text,
    values: valuesOf(history, counter, 'rate', scale),
    peaks: valuesOf(history, counter, 'peak', scale),
    summary: `mean ${text(meanRate(history, counter) * scale)}, peak ${text(largest(counter.peak) * scale)}`,
  }];
}

/** The lowest value as a line, and a shade up to the highest. */
function gaugeLine(history: History, gauge: GaugeHistory | undefined, name: string, colour: number): Line[] {
  if (!gauge?.bucket.length) return [];
  const {scaled, text} = BASE_GAUGES[gauge.unit];
  const [low, high] = [Math.min(...gauge.low), Math.max(...gauge.high)].map((value) => text(scaled(value)));
  return [{
    name, colour, text,
    values: gaugeValues(history, gauge, 'low', scaled),
    peaks: gaugeValues(history, gauge, 'high', scaled),
    summary: low === high ? low : `${low} to ${high}`,
  }];
}

interface Events {
  lines: Line[];
  /** Any such counter was read. */
  isRead: boolean;
  /** Counters that moved less than those. */
  more: number;
  text: (value: number) => string;
}

/** Counters of events that moved, those that did so most first; all in the unit that suits the greatest. */
function eventsOf(ends: {history: History; port: PortHistory}[], of: (counter: CounterHistory) => boolean): Events {
  const read = ends.flatMap(({history, port}) => port.counters.filter(of).map((counter) => ({history, port, counter})));
  const moved = read.filter(({counter}) => Number(counter.total) > 0)
    .sort((a, b) => Number(b.counter.total) - Number(a.counter.total));
  const shown = moved.slice(0, LINE_COLOURS);
  const unit = often(largest(shown.map(({counter}) => largest(counter.rate))));
  const text = (value: number) => (value === 0 ? '0' : `${short(value)} /${unit.name}`);
  const lines = shown.map(({history, port, counter}, index): Line => ({
    name: `${counterName(counter.counter)}, ${port.label}`,
    colour: index,
    values: valuesOf(history, counter, 'rate', unit.length),
    summary: amount(counter),
    text,
  }));
  return {lines, isRead: read.length > 0, more: moved.length - lines.length, text};
}

/** Two histories that were asked one after the other may differ by a bucket: the far one is moved to the near one's times. */
function aligned(far: History, near: History): History {
  const apart = Math.round((Date.parse(far.from) - Date.parse(near.from)) / 1000 / stepOf(near));
  if (stepOf(far) !== stepOf(near)) return far;
  const keptOf = (buckets: number[]) => {
    const places = buckets.map((_, index) => index).filter((index) => buckets[index] + apart >= 0 && buckets[index] + apart < near.buckets);
    return {kept: places.map((index) => buckets[index] + apart), pick: (values: number[]) => places.map((index) => values[index])};
  };
  const ports = far.ports.map((port) => ({...port, counters: port.counters.map((counter) => {
    const {kept, pick} = keptOf(counter.bucket);
    return {...counter, bucket: kept, rate: pick(counter.rate), peak: pick(counter.peak)};
  }), gauges: port.gauges?.map((gauge) => {
    const {kept, pick} = keptOf(gauge.bucket);
    return {...gauge, bucket: kept, last: pick(gauge.last), low: pick(gauge.low), high: pick(gauge.high)};
  })}));
  return {...far, from: near.from, buckets: near.buckets, ports};
}

export function MarkList({marks}: {marks: Mark[]}) {
  if (!marks.length) return null;
  const aims: Record<string, (id: string) => string> = {INCIDENT: toIncident, PLAN: toPlan};
  return (
    <ul class="plain-list happened" aria-label="What happened in this time">
      {[...marks].reverse().map((mark) => (
        <li key={keyOf(mark)}>
          <span class={`swatch mark${markColour(mark)}`} />
          <span class="muted">{plain(mark.kind)}</span>{' '}
          {aims[mark.kind] ? <a href={aims[mark.kind](mark.id)}>{mark.id}</a> : mark.id}{' '}
          <span class="muted">{clock(mark.from)} – {mark.until ? clock(mark.until) : 'now'}</span> {mark.text}
        </li>
      ))}
    </ul>
  );
}

/** Which time is shown. `href` is the address of the same view with another one. */
export function SpanChoice({span, href}: {span: Span; href: (span: Span) => string}) {
  const {from, to} = boundsOf(span);
  const move = (by: number) => go(href({from: Math.floor(from + by), to: Math.min(Math.floor(to + by), Math.ceil(weftdNow() / 1000))}));
  const grow = () => go(href({from: Math.floor(from - (to - from) / 2), to: Math.ceil(Math.min(to + (to - from) / 2, weftdNow() / 1000))}));
  const isPast = 'from' in span;
  return (
    <div class="span-choice">
      <div class="choice" role="radiogroup" aria-label="Time shown">
        {SPANS.map((each) => (
          <label key={each.last}>
            <input type="radio" name="span" checked={'last' in span && span.last === each.last} onChange={() => go(href({last: each.last}))} />
            <span>{each.name}</span>
          </label>
        ))}
      </div>
      <button type="button" aria-label="Earlier" onClick={() => move((from - to) / 2)}>←</button>
      {isPast && <button type="button" aria-label="Later" onClick={() => move((to - from) / 2)}>→</button>}
      {isPast && <button type="button" aria-label="Longer" onClick={grow}>↔</button>}
      {isPast && <span class="muted">{clock(new Date(from * 1000).toISOString())} – {clock(new Date(to * 1000).toISOString())}</span>}
    </div>
  );
}

interface Shown {
  /** Of useLinkHistory. */
  history: {value?: {near: History; far?: History}; error?: Failure};
  span: Span;
  href: (span: Span) => string;
}

function chartsOf(near: History, given: History | undefined) {
  const far = given && aligned(given, near);
  const port = near.ports[0];
  const peer = far?.ports[0];
  const ends = [...(port ? [{history: near, port}] : []), ...(far && peer ? [{history: far, port: peer}] : [])];
  const traffic = [
    ...rateLine(near, counterOf(port, 'transmit_bytes'), 'Sends', 0, 8, bits),
    ...rateLine(near, counterOf(port, 'receive_bytes'), 'Receives', 1, 8, bits),
  ];
  // In ticks, where weftd does not know how long one is, it says nothing about shares of time.
  const stall = ends.flatMap(({history, port: end}, index) => {
    const wait = counterOf(end, 'transmit_wait');
    return wait?.unit === 'seconds' ? rateLine(history, wait, end.label, index, 1, share) : [];
  });
  const gauges = (name: string, title = '') => ends.flatMap(({history, port: end}, index) =>
    gaugeLine(history, gaugeOf(end, name), `${title}${end.label}`, index + (name === 'module_transmit_power' ? 2 : 0)));
  return {
    traffic, stall,
    power: [...gauges('module_receive_power', 'In, '), ...gauges('module_transmit_power', 'Out, ')],
    bias: gauges('module_bias'),
    temperature: gauges('module_temperature'),
    errors: eventsOf(ends, (counter) => counter.unit === 'events' && !FLAPS.includes(counter.counter)),
    flaps: eventsOf(ends, (counter) => FLAPS.includes(counter.counter)),
    isRead: ends.some(({port: end}) => [...end.counters, ...end.gauges ?? []].some((each) => each.bucket.length > 0)),
  };
}

export function LinkHistory({history: {value, error}, span, href}: Shown) {
  const [at, setAt] = useState(-1);
  const drawn = useMemo(() => value && {
    times: timesOf(value.near), step: stepOf(value.near), marks: marksOf(value.near, value.far), ...chartsOf(value.near, value.far),
  }, [value]);
  const shared = drawn && {
    times: drawn.times, step: drawn.step, marks: drawn.marks, at, onAt: setAt,
    onZoom: (from: number, to: number) => go(href({from: Math.floor(from), to: Math.ceil(Math.max(to, from + 60))})),
  };
  const top = (most: number) => (most > 0 ? rounded(most) : 1);
  const gauges = (title: string, lines: Line[], unit: string, grid: number) => (
    shared && lines.length > 0 && (
      <Chart {...shared} title={title} lines={lines} bottom={(least) => Math.floor(least / grid - 0.5) * grid}
        top={(most) => Math.ceil(most / grid + 0.5) * grid} tick={BASE_GAUGES[unit].text} />
    )
  );
  const events = (title: string, found: Events) => (
    shared && (found.lines.length ? (
      <>
        <Chart {...shared} title={title} lines={found.lines} bars top={top} tick={found.text} />
        {found.more > 0 && <p class="muted">and {found.more} more counters, below</p>}
      </>
    ) : <p class={found.isRead ? 'still' : 'muted'}>{found.isRead ? `No ${title.toLowerCase()} in this time.` : `${title}: not read in this time.`}</p>)
  );
  return (
    <section aria-labelledby="history">
      <h3 id="history">History</h3>
      <SpanChoice span={span} href={href} />
      {!drawn && <p class="muted waiting" role="status">{error ? (error.status === 404 ? 'Nothing is stored of this port yet.' : error.message) : 'Loading …'}</p>}
      {shared && drawn.isRead && (
        <div class="charts">
          {drawn.traffic.length > 0 && <Chart {...shared} title="Traffic" lines={drawn.traffic} top={top} tick={bits} />}
          {drawn.stall.length > 0 &&
            <Chart {...shared} title="Stall (waits to send)" lines={drawn.stall} top={(most) => Math.min(1, rounded(Math.max(most, 0.001)))} tick={share} />}
          {events('Errors', drawn.errors)}
          {events('Flaps', drawn.flaps)}
          {gauges('Optical power (weakest lane)', drawn.power, 'watts', 2)}
          {gauges('Laser bias (highest lane)', drawn.bias, 'amperes', 2)}
          {gauges('Temperature of the module', drawn.temperature, 'degrees Celsius', 10)}
          <p class="muted">
            Each point is {seconds(drawn.step).replace(' 0 min', '')} of local time: lines are means, shades peaks; of optical power, bias and temperature lines are the lowest values, shades the highest. Grey: nothing was read. Drag over a chart to zoom.
          </p>
        </div>
      )}
      {drawn && !drawn.isRead && <p class="muted">Nothing was read in this time.</p>}
      {drawn && <MarkList marks={drawn.marks} />}
    </section>
  );
}

/** The same of the port or cable that an incident speaks of, at its time. */
export function EntityHistory({entity, from, to}: {entity: Entity; from: string; to?: string}) {
  const span = around(from, to);
  const peer = entity.peerGuid && entity.peerPort ? `${entity.peerGuid}/${entity.peerPort}` : '';
  const history = useLinkHistory(`${entity.nodeGuid}/${entity.port}`, peer, span);
  return <LinkHistory history={history} span={span} href={(other) => toPort(entity.nodeGuid, entity.port, other)} />;
}
