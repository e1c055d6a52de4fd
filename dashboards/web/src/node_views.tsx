// SPDX-License-Identifier: Apache-2.0
// One node with its ports, and one port with its counters.

import {useEffect, useState} from 'preact/hooks';
import {get} from './api';
import {ownShard, picture, shardShown, showShard, useLive, usePolled} from './live';
import {inOrder} from './incident_views';
import {Fact, Facts, SeverityMark, StateMark} from './parts';
import {toIncident, toNode, toPlan, toPort} from './route';
import type {Health, Incident, Node, Port} from './types';
import {bits, byName, clock, errorRate, grouped, kindName, linkWord, percent, plain, portName} from './words';

function useNode(guid: string) {
  const polled = usePolled<Node[]>(`node-${guid}`, 3000, async () =>
    (await get<{nodes: Node[]}>(`/api/v1/nodes/${encodeURIComponent(guid)}`)).nodes);
  useLive();
  // Of the shard that is drawn; where that one does not know it, the shard that does is drawn.
  const node = polled.value?.find((each) => !each.shard || each.shard === shardShown()) ?? polled.value?.[0];
  useEffect(() => { if (node?.shard) showShard(node.shard); }, [node?.shard]);
  return {value: node, error: polled.error};
}

function touches(incident: Incident, guid: string, port?: number): boolean {
  const cause = incident.cause;
  if (!cause) return false;
  if (port === undefined) return cause.nodeGuid === guid || cause.peerGuid === guid;
  return (cause.nodeGuid === guid && (cause.port === port || cause.kind === 'NODE')) || (cause.peerGuid === guid && cause.peerPort === port);
}

function IncidentsOf({guid, port}: {guid: string; port?: number}) {
  const {incidents = []} = useLive();
  const found = inOrder(incidents.filter((incident) => touches(incident, guid, port)));
  if (!found.length) return null;
  return (
    <ul class="plain-list">
      {found.map((incident) => (
        <li key={incident.id}><SeverityMark severity={incident.severity} /> <a href={toIncident(incident.id)}>{incident.id} {kindName(incident.kind)}</a></li>
      ))}
    </ul>
  );
}

/** The plan that holds the link at the port out of service, or raised its cost. */
function Holder({port}: {port: Port}) {
  const {plans = []} = useLive();
  const plan = plans.find(({inForce, target}) => inForce && target &&
    ((target.nodeGuid === port.nodeGuid && target.port === port.port) || (target.peerGuid === port.nodeGuid && target.peerPort === port.port)));
  return plan ? <span class="muted"> {(plan.action === 'RESTORE_LINK' ? plan.revertedAction : plan.action) === 'RAISE_LINK_COST' ? 'cost raised by' : 'taken out by'} <a href={toPlan(plan.id)}>{plan.id}</a></span> : null;
}

function portWord(port: Port): {word: string; good: boolean; bad: boolean} {
  if (port.state === 'STATE_UNKNOWN' && !port.stateReadAt) return {word: 'not read', good: false, bad: false};
  if (port.stale) return {word: 'no fresh data', good: false, bad: false};
  if (port.state === 'ACTIVE') return {word: 'up', good: true, bad: false};
  if (port.physicalState === 'DISABLED') return {word: 'disabled', good: false, bad: true};
  if (port.state === 'DOWN' && !port.peer) return {word: 'no cable', good: false, bad: false};
  return {word: port.state, good: false, bad: port.state === 'DOWN'};
}

function PortRow({port}: {port: Port}) {
  const state = portWord(port);
  return (
    <tr>
      <th scope="row"><a href={toPort(port.nodeGuid, port.port)}>{port.name || port.port}</a></th>
      <td><StateMark {...state} /><Holder port={port} /></td>
      <td>{port.peer ? <a href={toPort(port.peer.nodeGuid, port.peer.port)}>{port.peer.name ? portName(port.peer) : `${port.peer.node}:${port.peer.port}`}</a> : '–'}</td>
      <td>{linkWord(port) || '–'}</td>
      <td>{percent(port.rates?.utilizationRatio)}</td>
      <td>{percent(port.rates?.stallRatio)}</td>
      <td>{errorRate(port.rates?.errorRate)}</td>
    </tr>
  );
}

const VERDICT_GOOD = 'HEALTHY';

export function NodeView({guid}: {guid: string}) {
  const {value: node, error} = useNode(guid);
  const {value: health} = usePolled<Health>(`health-${guid}`, 5000, () => get<Health>(`/api/v1/nodes/${encodeURIComponent(guid)}/health`));
  if (!node) return <p class="muted">{error ? error.message : 'Loading …'}</p>;
  const map = shardShown() !== ownShard() ? undefined : picture.map?.find((each) => each.fabric === node.fabric);
  const siblings = (map?.guids ?? [])
    .map((each, index) => ({guid: each, name: map?.names[index] ?? '', host: map?.hosts[index]}))
    .filter((each) => each.host === node.host && each.guid !== node.guid && node.type === 'CHANNEL_ADAPTER')
    .sort((a, b) => byName(a.name, b.name));
  const ports = node.ports.filter((port) => port.port > 0);
  const cabled = ports.filter((port) => port.peer || port.state !== 'DOWN' || port.physicalState === 'DISABLED');
  return (
    <article aria-labelledby="node">
      <p class="crumbs"><a href="#/">Fabric</a> / {node.shard && `${node.shard} / `}{node.fabric}</p>
      <h2 id="node">{node.name}</h2>
      <p class="marks">
        <span class="mark neutral">{plain(node.type)}</span>
        {!node.reachable && <span class="mark critical">Unreachable</span>}
        {health && <StateMark word={health.verdict} good={health.verdict === VERDICT_GOOD} bad={health.verdict === 'UNHEALTHY'} />}
        {health && health.recommendedAction !== 'NONE' && <span class="mark warning">{plain(health.recommendedAction)}</span>}
      </p>
      <IncidentsOf guid={node.guid} />
      {health?.reasons.map((reason, index) => <p key={index}>{reason.message}</p>)}
      <Facts>
        <Fact name="GUID"><code>{node.guid}</code></Fact>
        {node.host !== node.name && <Fact name="Host">{node.host}</Fact>}
        {node.description !== node.name && <Fact name="Description">{node.description}</Fact>}
      </Facts>
      {siblings.length > 0 && (
        <p>Also in {node.host}: {siblings.map((each, index) => <span key={each.guid}>{index > 0 && ', '}<a href={toNode(each.guid)}>{each.name}</a></span>)}</p>
      )}
      <h3>Ports</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Ports">
        <table>
          <thead><tr><th scope="col">Port</th><th scope="col">State</th><th scope="col">Leads to</th><th scope="col">Rate</th>
            <th scope="col">Used</th><th scope="col">Stall</th><th scope="col">Errors/bit</th></tr></thead>
          <tbody>{cabled.map((port) => <PortRow key={port.port} port={port} />)}</tbody>
        </table>
      </div>
      {cabled.length < ports.length && <p class="muted">{ports.length - cabled.length} ports without a cable</p>}
    </article>
  );
}

const POINTS = 60;

/** What was seen of a number while the page looked at it: a point for each reading. */
function Line({label, value, read, text, most}: {label: string; value?: number; read?: string; text: string; most: number}) {
  const [points, setPoints] = useState<number[]>([]);
  useEffect(() => {
    if (value !== undefined) setPoints((before) => [...before.slice(1 - POINTS), value]);
  }, [read]);
  const top = Math.max(most, ...points);
  const path = points.map((each, index) => `${(index / (POINTS - 1)) * 120},${30 - (each / top) * 28}`).join(' ');
  return (
    <figure class="line">
      <figcaption>{label} <b>{text}</b></figcaption>
      <svg viewBox="0 0 120 32" preserveAspectRatio="none" aria-hidden="true"><polyline points={path} /></svg>
    </figure>
  );
}

export function PortView({guid, number}: {guid: string; number: number}) {
  const {value: node, error} = useNode(guid);
  const port = node?.ports.find((each) => each.port === number);
  if (!node || !port) return <p class="muted">{error ? error.message : node ? `${node.name} has no port ${number}` : 'Loading …'}</p>;
  const state = portWord(port);
  const slower = port.state === 'ACTIVE' && port.widthSupported && port.width !== port.widthSupported;
  return (
    <article aria-labelledby="port">
      <p class="crumbs"><a href="#/">Fabric</a> / <a href={toNode(guid)}>{node.name}</a> / {port.name || `port ${number}`}</p>
      <h2 id="port">{portName(port)}</h2>
      <p class="marks"><StateMark {...state} /><Holder port={port} />{slower && <span class="mark warning">Below its supported width</span>}</p>
      <IncidentsOf guid={guid} port={number} />
      <Facts>
        <Fact name="Peer">{port.peer ? <a href={toPort(port.peer.nodeGuid, port.peer.port)}>{portName(port.peer)}</a> : 'no link seen'}</Fact>
        <Fact name="Link">{port.rateBitsPerSecond ? [port.width && linkWord(port), bits(port.rateBitsPerSecond)].filter(Boolean).join(', ') : state.word === 'not read' ? state.word : 'down'}</Fact>
        {!port.name && <Fact name="Supported">{[port.widthSupported, port.speedSupported].filter(Boolean).join(' ') || 'unknown'}</Fact>}
        <Fact name="Physical state">{plain(port.physicalState)}</Fact>
        {!port.name && <Fact name="LID">{port.lid || '–'}</Fact>}
        <Fact name="State read">{clock(port.stateReadAt)}</Fact>
        <Fact name="Counters read">{clock(port.countersReadAt)}</Fact>
      </Facts>
      <div class="lines">
        <Line read={port.countersReadAt} label="Sends" value={port.rates?.transmitBitsPerSecond} text={bits(port.rates?.transmitBitsPerSecond)} most={port.rateBitsPerSecond || 1} />
        <Line read={port.countersReadAt} label="Receives" value={port.rates?.receiveBitsPerSecond} text={bits(port.rates?.receiveBitsPerSecond)} most={port.rateBitsPerSecond || 1} />
        <Line read={port.countersReadAt} label="Stall" value={port.rates?.stallRatio} text={percent(port.rates?.stallRatio)} most={1} />
      </div>
      <h3>Counters</h3>
      <table class="counters">
        <tbody>
          {port.counters.map((counter) => (
            <tr key={counter.name + (counter.instance ?? '')}>
              <th scope="row">{plain(counter.name)}{counter.instance !== undefined && ` ${counter.instance}`}</th>
              <td>{counter.saturated && '≥ '}{grouped(counter.value)} <span class="muted">{counter.unit}</span></td>
            </tr>
          ))}
        </tbody>
      </table>
      {!port.counters.length && <p class="muted">No counters were read.</p>}
    </article>
  );
}
