// SPDX-License-Identifier: Apache-2.0
// One port and its cable: state, history and counters.

import {counterOf, meanRate, useLinkHistory, type CounterHistory, type History, type Span} from './history';
import {LinkHistory} from './history_view';
import {Holder, IncidentsOf, useNode, usePortWord} from './node_views';
import {Fact, Facts, StateMark} from './parts';
import {toNode, toPort} from './route';
import type {Port} from './types';
import {amount, counterName, isGauge, rateOf, readingText} from './units';
import {bits, clock, grouped, linkWord, plain, portName} from './words';

type Counter = Port['counters'][number];
interface Row {
  counter: Counter;
  past?: CounterHistory;
  /** That `past` is of. */
  history?: History;
}

const hasMoved = (past?: CounterHistory) => !!past && Number(past.total) > 0;

function CounterRow({counter, past, history}: Row) {
  return (
    <tr>
      <th scope="row">{counterName(counter.name)}{counter.instance !== undefined && ` ${counter.instance}`}</th>
      <td>{hasMoved(past) ? amount(past as CounterHistory) : past ? 'did not move' : '–'}</td>
      <td>{hasMoved(past) ? rateOf((past as CounterHistory).unit, meanRate(history as History, past)) : ''}</td>
      <td>{counter.saturated && '≥ '}{counter.unit === 'bytes' ? amount({unit: 'bytes', total: counter.value, atLeast: false})
        : <>{grouped(counter.value)} <span class="muted">{counter.unit}</span></>}</td>
    </tr>
  );
}

/** Temperatures, optical power and their like. */
function Readings({counters}: {counters: Counter[]}) {
  const names = [...new Set(counters.map((each) => each.name))];
  if (!names.length) return null;
  return (
    <>
      <h3>Readings</h3>
      <Facts>
        {names.map((name) => (
          <Fact key={name} name={counterName(name)}>{readingText(counters.filter((each) => each.name === name))}</Fact>
        ))}
      </Facts>
    </>
  );
}

/** Those that move first; those that never did are folded. */
function Counters({counters, history}: {counters: Counter[]; history?: History}) {
  if (!counters.length) return <p class="muted">No counters were read.</p>;
  const rows = counters.map((counter): Row => ({
    counter, history, past: counter.instance === undefined ? counterOf(history?.ports[0], counter.name) : undefined,
  }));
  const moving = rows.filter(({past}) => hasMoved(past));
  const still = rows.filter(({counter, past}) => !hasMoved(past) && counter.value !== '0');
  const never = rows.filter(({counter, past}) => !hasMoved(past) && counter.value === '0');
  return (
    <>
      {moving.length + still.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Counters">
          <table class="counters">
            <thead><tr><th scope="col">Counter</th><th scope="col">In the time shown</th><th scope="col">Mean rate</th><th scope="col">Since its last reset</th></tr></thead>
            <tbody>{[...moving, ...still].map((row) => <CounterRow key={row.counter.name + (row.counter.instance ?? '')} {...row} />)}</tbody>
          </table>
        </div>
      )}
      {never.length > 0 && (
        <details class="never">
          <summary>{never.length} {never.length === 1 ? 'counter' : 'counters'} at zero</summary>
          <p>{never.map(({counter}) => `${counterName(counter.name)}${counter.instance === undefined ? '' : ` ${counter.instance}`}`).join(', ')}</p>
        </details>
      )}
    </>
  );
}

/** What is stored of a port that no fabric has now: of a switch that was replaced. */
function GonePort({guid, number, span}: {guid: string; number: number; span: Span}) {
  const history = useLinkHistory(`${guid}/${number}`, '', span);
  return (
    <article aria-labelledby="port">
      <p class="crumbs"><a href="#/">Fabric</a> / <a href={toNode(guid, span)}>{guid}</a> / {`port ${number}`}</p>
      <h2 id="port">{history.value?.near.ports[0]?.label ?? `${guid} port ${number}`}</h2>
      <p class="muted">No fabric has it now.</p>
      <LinkHistory history={history} span={span} href={(other) => toPort(guid, number, other)} />
    </article>
  );
}

export function PortView({guid, number, span}: {guid: string; number: number; span: Span}) {
  const {node, why, isUnknown} = useNode(guid);
  const port = node?.ports.find((each) => each.port === number);
  if (!node && isUnknown) return <GonePort guid={guid} number={number} span={span} />;
  if (!node || !port) return <p class="muted">{node ? `${node.name} has no port ${number}` : why}</p>;
  return <PortArticle port={port} nodeName={node.name} span={span} />;
}

function PortArticle({port, nodeName, span}: {port: Port; nodeName: string; span: Span}) {
  const peer = port.peer ? `${port.peer.nodeGuid}/${port.peer.port}` : '';
  const history = useLinkHistory(`${port.nodeGuid}/${port.port}`, peer, span);
  const state = usePortWord()(port);
  const old = state.isOld && <span class="muted"> (old)</span>;
  return (
    <article aria-labelledby="port">
      <p class="crumbs"><a href="#/">Fabric</a> / <a href={toNode(port.nodeGuid)}>{nodeName}</a> / {port.name || `port ${port.port}`}</p>
      <h2 id="port">{portName(port)}</h2>
      <p class="marks"><StateMark {...state} />{state.note && <span class="muted">{state.note}</span>}<Holder port={port} /></p>
      <IncidentsOf guid={port.nodeGuid} port={port.port} name={portName(port)} />
      <Facts>
        {!port.name && <Fact name="GUID of the node"><code>{port.nodeGuid}</code></Fact>}
        <Fact name="Peer">{port.peer ? <a href={toPort(port.peer.nodeGuid, port.peer.port, span)}>{portName(port.peer)}</a> : 'no link seen'}</Fact>
        <Fact name="Link">{port.rateBitsPerSecond ? [port.width && linkWord(port), bits(port.rateBitsPerSecond)].filter(Boolean).join(', ') : state.word === 'not read' ? state.word : 'down'}{old}</Fact>
        {!port.name && <Fact name="Supported">{[port.widthSupported, port.speedSupported].filter(Boolean).join(' ') || 'unknown'}</Fact>}
        <Fact name="Physical state">{plain(port.physicalState)}{old}</Fact>
        {!port.name && <Fact name="LID">{port.lid || '–'}</Fact>}
        <Fact name="State read">{clock(port.stateReadAt)}</Fact>
        <Fact name="Counters read">{clock(port.countersReadAt)}</Fact>
      </Facts>
      <LinkHistory history={history} span={span} href={(other) => toPort(port.nodeGuid, port.port, other)} />
      <h3>Counters</h3>
      <Counters counters={port.counters.filter((each) => !isGauge(each.unit))} history={history.value?.near} />
      <Readings counters={port.counters.filter((each) => isGauge(each.unit))} />
    </article>
  );
}
