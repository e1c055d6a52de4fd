// SPDX-License-Identifier: Apache-2.0
// Many ports over the same time, one below the other: traffic as small charts of one scale, stall as a strip that is the darker the more
// of the time the port waited. All strips together are a heat map.

import type {ComponentChildren} from 'preact';
import {useMemo} from 'preact/hooks';
import type {Failure} from './api';
import {markColour} from './chart';
import {SHADES, stallShadeOf} from './colours';
import {counterOf, endOf, gaugeOf, keyOf, meanRate, stepOf, useHistory, usePortHistories, type History, type Mark, type PortHistory, type Span, type Values} from './history';
import {MarkList, SpanChoice} from './history_view';
import {isRead, stallOf, totalOf, TRAFFIC, trafficOf} from './port_figures';
import {toPort} from './route';
import {BASE_GAUGES, share, short} from './units';
import {bits, byName, clock} from './words';

const POINTS = 72;
const FLAPS = ['link_downed', 'link_error_recovery'];
const ERRORS = [
  'symbol_errors', 'receive_errors', 'receive_remote_physical_errors', 'receive_switch_relay_errors', 'transmit_discards',
  'transmit_constraint_errors', 'receive_constraint_errors', 'local_link_integrity_errors', 'excessive_buffer_overrun_errors',
];

/** A line with gaps, of a given scale. */
function Spark({values, top}: {values: Values; top: number}) {
  let path = '';
  let open = false;
  values.forEach((value, index) => {
    if (value !== null) path += `${open ? 'L' : 'M'}${index},${19 - (value / top) * 18}${open ? '' : 'h.5'}`;
    open = value !== null;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${values.length} 20`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, index) => (value === null ? <rect key={index} x={index} width="1" height="20" /> : null))}
      <path d={path} />
    </svg>
  );
}

const WORST: Record<string, number> = {CRITICAL: 5, WARNING: 4, INFO: 3};
const weightOf = (mark: Mark) => (mark.kind === 'INCIDENT' ? WORST[mark.severity] ?? 3 : mark.kind === 'PLAN' ? 2 : 1);

/** When there were incidents, plans and maintenance: of what overlaps the gravest, a bar for each run of buckets. */
function MarkBar({history}: {history: History}) {
  const [begin, step] = [Date.parse(history.from), stepOf(history) * 1000];
  const place = (time: string | undefined, otherwise: number) => (time ? Math.max(0, Math.min(history.buckets, (Date.parse(time) - begin) / step)) : otherwise);
  const marks = [...history.marks].sort((a, b) => weightOf(a) - weightOf(b));
  const now = place(new Date().toISOString(), history.buckets);
  return (
    <svg class="mark-bar" viewBox={`0 0 ${history.buckets} 1`} preserveAspectRatio="none" aria-hidden="true">
      {marks.map((mark) => {
        const from = place(mark.from, 0);
        return <rect key={keyOf(mark)} x={from} width={Math.max(history.buckets / 150, place(mark.until, now) - from)} height="1" fill={`var(${markColour(mark)})`} />;
      })}
    </svg>
  );
}

/** Of stall over time, in the colours of the map. */
export function Strip({values}: {values: Values}) {
  const runs: {from: number; to: number; style: string}[] = [];
  values.forEach((value, index) => {
    const style = value === null ? '' : SHADES.stall[stallShadeOf(value)].style.slice(2);
    const last = runs[runs.length - 1];
    if (last && last.style === style) last.to = index + 1;
    else runs.push({from: index, to: index + 1, style});
  });
  return (
    <svg class="strip" viewBox={`0 0 ${values.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {runs.filter((run) => run.style).map((run) => <rect key={run.from} class={run.style} x={run.from} width={run.to - run.from} height="1" />)}
    </svg>
  );
}

/** What its colours mean: entries of a legend. */
export function StripShades() {
  return (
    <>
      {SHADES.stall.filter((each) => /map-s\d$/.test(each.style)).map((each) => <li key={each.style}><span class={`swatch ${each.style.slice(2)}`} />{each.label}</li>)}
      <li><span class="swatch map-gap" />not read</li>
    </>
  );
}

const isKnown = (values: Values) => values.some((each) => each !== null);

/** In bits a second. */
const meanTraffic = (history: History, port: PortHistory) => 8 * Math.max(...TRAFFIC.map((name) => meanRate(history, counterOf(port, name))));

/** As a share of time, as long as stallOf() knows any. */
const meanStall = (history: History, port: PortHistory) => meanRate(history, counterOf(port, 'transmit_wait'));

/** The worst value in the time shown: the least light, the highest temperature. */
function worstOf(port: PortHistory, name: string): string {
  const gauge = gaugeOf(port, name);
  if (!gauge?.bucket.length) return '–';
  const {scaled, text} = BASE_GAUGES[gauge.unit];
  return text(scaled(gauge.unit === 'watts' ? Math.min(...gauge.low) : Math.max(...gauge.high)));
}

/** Columns of what collectors read, where they do. */
const GAUGES: [string, string][] = [['module_receive_power', 'Least optical in'], ['module_temperature', 'Hottest']];

/** The worst first: by errors and flaps, then by stall, then by traffic. */
function inOrderOfTrouble(history: History, ports: PortHistory[]): PortHistory[] {
  const judged = ports.map((port) => {
    const stall = isKnown(stallOf(history, port)) ? meanStall(history, port) : 0;
    return {port, figures: [totalOf(port, [...ERRORS, ...FLAPS]) ?? 0, stall, meanTraffic(history, port)]};
  });
  const differs = (a: number[], b: number[]) => a.map((each, index) => b[index] - each).find((each) => each !== 0) ?? 0;
  return judged.sort((a, b) => differs(a.figures, b.figures)).map(({port}) => port);
}

/** How often something happened that should not. */
function Events({count}: {count: number | null}) {
  return <td class={`figure ${count ? 'bad' : 'muted'}`}>{count === null ? '–' : short(count)}</td>;
}

interface RowProps {
  history: History;
  port: PortHistory;
  name: string;
  top: number;
  span: Span;
  gauges: string[];
}

function Row({history, port, name, top, span, gauges}: RowProps) {
  const traffic = trafficOf(history, port);
  const stall = stallOf(history, port);
  return (
    <tr>
      <th scope="row"><a href={toPort(port.nodeGuid, port.port, span)}>{name}</a></th>
      <Events count={totalOf(port, ERRORS)} />
      <Events count={totalOf(port, FLAPS)} />
      <td class="drawn"><Spark values={traffic} top={top} /></td>
      <td class="figure">{isKnown(traffic) ? bits(meanTraffic(history, port)) : '–'}</td>
      <td class="drawn"><Strip values={stall} /></td>
      <td class="figure">{isKnown(stall) ? share(meanStall(history, port)) : '–'}</td>
      {gauges.map((each) => <td key={each} class="figure">{worstOf(port, each)}</td>)}
      <td>{port.peer}</td>
    </tr>
  );
}

const COUNTERS = [...TRAFFIC, 'transmit_wait', ...ERRORS, ...FLAPS, ...GAUGES.map(([name]) => name)];

interface Props {
  span: Span;
  /** Where another time is shown, and all ports; without it only these are. */
  href?: (span: Span) => string;
  /** How the rows are called. */
  nameOf: (port: PortHistory) => string;
  what: 'Port' | 'Adapter';
  /** Only so many, the worst first, and a link to the others. */
  most?: number;
}

interface NodeProps extends Props {
  /** A switch, a host or an adapter. */
  node: string;
  /** Shown where no fabric has the node, or nothing is stored of it. */
  instead?: ComponentChildren;
}

export function PortRows({node, instead, ...props}: NodeProps) {
  const answer = useHistory(node, props.span, COUNTERS, POINTS);
  return answer.error?.status === 404 && instead ? <>{instead}</> : <Rows {...answer} {...props} />;
}

interface FarEndsProps {
  /** As "0x…/12". */
  ports: string[];
  span: Span;
}

/** What the other ends of the cables to a node saw, of a node that no fabric has now. */
export function FarEnds({ports, span}: FarEndsProps) {
  const answer = usePortHistories(ports, span, COUNTERS, POINTS);
  return (
    <Rows {...answer} span={span} nameOf={(port) => port.label} what="Port" most={ports.length}
      note="No fabric has it now, or nothing is stored of it. These are the other ends of its cables." />
  );
}

interface RowsProps extends Props {
  value?: History;
  error?: Failure;
  note?: string;
}

function Rows({value: history, error, note, span, href, nameOf, what, most}: RowsProps) {
  const top = useMemo(() => Math.max(1, ...(history?.ports ?? []).flatMap((port) => trafficOf(history as History, port).map((each) => each ?? 0))), [history]);
  // A switch's own port 0 is none that people know.
  const ports = (history?.ports ?? []).filter(({port}) => port > 0).sort((a, b) => byName(nameOf(a), nameOf(b)));
  const read = ports.filter(isRead);
  const moved = read.filter((port) => port.counters.some((each) => Number(each.total) > 0));
  const [still, unread] = [read.length - moved.length, ports.length - read.length];
  const left = [still > 0 && `${still} without traffic or errors`, unread > 0 && `${unread} not read`].filter(Boolean);
  const shown = useMemo(() => (history && most ? inOrderOfTrouble(history, moved).slice(0, most) : moved), [history, most]);
  const none = most ? 'Nothing is stored of it, or no fabric has it now.' : 'Nothing is stored yet.';
  const gauges = GAUGES.filter(([name]) => moved.some((port) => gaugeOf(port, name)?.bucket.length));
  return (
    <section aria-labelledby="history">
      <h3 id="history">History</h3>
      {href && <SpanChoice span={span} href={href} />}
      {note && <p class="muted">{note}</p>}
      {!history && <p class="muted waiting" role="status">{error ? (error.status === 404 ? none : error.message) : 'Loading …'}</p>}
      {history && moved.length > 0 && (
        <>
          <div class="scroll" tabIndex={0} role="region" aria-label={`History of each ${what}`}>
            <table class="rows">
              <thead><tr><th scope="col">{what}</th><th scope="col" class="figure">Errors</th><th scope="col" class="figure">Flaps</th>
                <th scope="col" colSpan={2}>Traffic</th><th scope="col" colSpan={2}>Stall</th>
                {gauges.map(([name, title]) => <th key={name} scope="col" class="figure">{title}</th>)}<th scope="col">Leads to</th></tr></thead>
              <tbody>
                {history.marks.length > 0 && (
                  <tr class="mark-row"><td class="muted" colSpan={3}>Marks</td><td class="drawn"><MarkBar history={history} /></td><td /><td class="drawn"><MarkBar history={history} /></td>
                    <td colSpan={2 + gauges.length} /></tr>
                )}
                {shown.map((port) => <Row key={`${port.nodeGuid}/${port.port}`} {...{history, port, top, span}} gauges={gauges.map(([each]) => each)} name={nameOf(port)} />)}
              </tbody>
            </table>
          </div>
          <ul class="legend rows-legend" aria-label="Legend">
            <li>{clock(history.from)} – {clock(endOf(history))}</li>
            <li>traffic: the busier direction, up to <b>{bits(top)}</b></li>
            <StripShades />
          </ul>
        </>
      )}
      {shown.length < moved.length && (
        <p><span class="muted">The worst {shown.length} of {moved.length}.</span> {href && <a href={href(span)}>All of that time</a>}</p>
      )}
      {history && left.length > 0 && <p class="muted">Of {ports.length} {what.toLowerCase()}{ports.length > 1 && 's'} in this time: {left.join(', ')}</p>}
      {history && <MarkList marks={history.marks} />}
    </section>
  );
}
