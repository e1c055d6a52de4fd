// SPDX-License-Identifier: Apache-2.0
// One node with its ports.

import {useEffect, useRef} from 'preact/hooks';
import {get, type Failure} from './api';
import type {Span} from './history';
import {ownShard, picture, shardShown, showShard, useLive, usePolled, whyMissing} from './live';
import {inOrder} from './occurrences';
import {Fact, Facts, SeverityMark, ShardMark, StateMark} from './parts';
import {PortRows} from './port_rows';
import {linkLetter, portWord, type PortWord} from './port_state';
import {toHost, toIncident, toIncidents, toMaintenance, toNode, toPlan, toPort} from './route';
import type {Health, Incident, Node, Port} from './types';
import {byName, errorRate, kindName, linkWord, percent, plain, portName, useClock} from './words';

/** Of all shards that know it. */
export interface NodeAnswer {
  nodes: Node[];
  missingShards: string[];
}

/**
 * The first of the shard that is drawn; where that one has none of them, the shard that does is drawn. When the shard of the one shown falls silent, nothing
 * takes its place: what another shard calls the same is another thing. `why` says then why there is none.
 */
export function useDrawn({value, error}: {value?: NodeAnswer; error?: Failure}): {node?: Node; why: string; isUnknown: boolean} {
  const {state} = useLive();
  const shown = useRef<string>();
  const {nodes = [], missingShards = []} = value ?? {};
  const isSilent = shown.current === shardShown() && missingShards.includes(shardShown());
  const node = isSilent ? undefined : nodes.find((each) => !each.shard || each.shard === shardShown()) ?? nodes[0];
  if (node) shown.current = node.shard;
  useEffect(() => { if (node?.shard) showShard(node.shard); }, [node?.shard]);
  // Before the first sweep nothing is known, nor before weftd has said that it is over.
  const isUnknown = !!state?.ready && (value ? !nodes.length && !missingShards.length : error?.status === 404);
  const silent = isSilent ? [shardShown()] : missingShards;
  return {node, isUnknown, why: error?.message ?? (silent.length ? `Shard ${silent.map(whyMissing).join(', shard ')}.` : 'Loading …')};
}

export function useNode(guid: string) {
  return useDrawn(usePolled<NodeAnswer>(`node-${guid}`, 3000, () => get<NodeAnswer>(`/api/v1/nodes/${encodeURIComponent(guid)}`)));
}

function touches(incident: Incident, guid: string, port?: number): boolean {
  const cause = incident.cause;
  if (!cause) return false;
  if (port === undefined) return cause.nodeGuid === guid || cause.peerGuid === guid;
  return (cause.nodeGuid === guid && (cause.port === port || cause.kind === 'NODE')) || (cause.peerGuid === guid && cause.peerPort === port);
}

/** Those that are open. `name` is what those that ended are found by. */
export function IncidentsOf({guid, port, name}: {guid: string; port?: number; name: string}) {
  const {incidents = []} = useLive();
  const found = inOrder(incidents.filter((incident) => touches(incident, guid, port)));
  return (
    <>
      {found.length > 0 && (
        <ul class="plain-list">
          {found.map((incident) => (
            <li key={incident.id}><SeverityMark severity={incident.severity} /> <ShardMark shard={incident.shard} /><a href={toIncident(incident.id)}>{incident.id} {kindName(incident.kind)}</a></li>
          ))}
        </ul>
      )}
      <LinksOf name={name} />
    </>
  );
}

/** To all incidents that speak of it, open or not, and, for those who may, to a maintenance window for it. */
export function LinksOf({name}: {name: string}) {
  const {role} = useLive();
  return (
    <p class="actions">
      <a href={toIncidents({entity: name})}>Incidents, also those that ended</a>
      {role !== 'viewer' && <a href={toMaintenance(name)}>Begin maintenance</a>}
    </p>
  );
}

/** The plan that holds the link at the port out of service, or raised its cost. */
export function Holder({port}: {port: Port}) {
  const {plans = []} = useLive();
  const plan = plans.find(({inForce, target}) => inForce && target &&
    ((target.nodeGuid === port.nodeGuid && target.port === port.port) || (target.peerGuid === port.nodeGuid && target.peerPort === port.port)));
  return plan ? <span class="muted"> {(plan.action === 'RESTORE_LINK' ? plan.revertedAction : plan.action) === 'RAISE_LINK_COST' ? 'cost raised by' : 'taken out by'} <a href={toPlan(plan.id)}>{plan.id}</a></span> : null;
}

/** Of the fabrics of this weftd the map tells what the other end says. */
export function usePortWord(): (port: Port) => PortWord {
  const {map = [], state} = useLive();
  const now = useClock();
  return (port) => portWord(port, port.stale && shardShown() === ownShard() ? linkLetter(map, state, port) : '', now);
}

/** As a cell of a table. */
export function PortMark({port, state}: {port: Port; state: PortWord}) {
  return <td><StateMark {...state} />{state.note && <span class="muted"> {state.note}</span>}<Holder port={port} /></td>;
}

function PortRow({port, state}: {port: Port; state: PortWord}) {
  return (
    <tr>
      <th scope="row"><a href={toPort(port.nodeGuid, port.port)}>{port.name || port.port}</a></th>
      <PortMark port={port} state={state} />
      <td>{port.peer ? <a href={toPort(port.peer.nodeGuid, port.peer.port)}>{port.peer.name ? portName(port.peer) : `${port.peer.node}:${port.peer.port}`}</a> : '–'}</td>
      <td class={state.isOld ? 'muted' : ''}>{linkWord(port) || '–'}{state.isOld && ', old'}</td>
      <td>{percent(port.rates?.utilizationRatio)}</td>
      <td>{percent(port.rates?.stallRatio)}</td>
      <td>{errorRate(port.rates?.errorRate)}</td>
    </tr>
  );
}

const VERDICT_GOOD = 'HEALTHY';

/** Where a shard tells nothing, what is healthy is so only as far as the others know. */
export function Verdict({health: {verdict, missingShards = []}}: {health: Health}) {
  if (verdict !== VERDICT_GOOD || !missingShards.length)
    return <StateMark word={verdict} good={verdict === VERDICT_GOOD} bad={verdict === 'UNHEALTHY'} />;
  return <span class="mark neutral">Healthy as far as known: {missingShards.map((shard) => `shard ${whyMissing(shard)}`).join(', ')}</span>;
}

/** What is stored of a node that no fabric has now. */
function GoneNode({guid, span}: {guid: string; span: Span}) {
  return (
    <article aria-labelledby="node">
      <p class="crumbs"><a href="#/">Fabric</a></p>
      <h2 id="node">{guid}</h2>
      <p class="muted">No fabric has it now.</p>
      <PortRows node={guid} span={span} href={(other) => toNode(guid, other)} what="Port" nameOf={(port) => port.label} />
    </article>
  );
}

export function NodeView({guid, span}: {guid: string; span: Span}) {
  const portState = usePortWord();
  const {node, why, isUnknown} = useNode(guid);
  const {value: health} = usePolled<Health>(`health-${guid}`, 5000, () => get<Health>(`/api/v1/nodes/${encodeURIComponent(guid)}/health`));
  if (!node) return isUnknown ? <GoneNode guid={guid} span={span} /> : <p class="muted">{why}</p>;
  const isAdapter = node.type === 'CHANNEL_ADAPTER' && node.host !== '';
  const map = shardShown() !== ownShard() ? undefined : picture.map?.find((each) => each.fabric === node.fabric);
  const siblings = (map?.guids ?? [])
    .map((each, index) => ({guid: each, name: map?.names[index] ?? '', host: map?.hosts[index]}))
    .filter((each) => each.host === node.host && each.guid !== node.guid && node.type === 'CHANNEL_ADAPTER')
    .sort((a, b) => byName(a.name, b.name));
  const ports = node.ports.filter((port) => port.port > 0);
  const isEthernet = ports.some((port) => port.name);  // ports of InfiniBand have numbers only
  const nameOfPort = (number: number) => ports.find((port) => port.port === number)?.name || String(number);
  const cabled = ports.filter((port) => port.peer || port.state !== 'DOWN' || port.physicalState === 'DISABLED');
  return (
    <article aria-labelledby="node">
      <p class="crumbs"><a href="#/">Fabric</a> / {node.shard && `${node.shard} / `}{node.fabric}{isAdapter && <> / <a href={toHost(node.host)}>{node.host}</a></>}</p>
      <h2 id="node">{node.name}</h2>
      <p class="marks">
        <span class="mark neutral">{isEthernet && isAdapter ? 'Interface' : plain(node.type)}</span>
        {!node.reachable && <span class="mark critical">Unreachable</span>}
        {health && <Verdict health={health} />}
        {health && health.recommendedAction !== 'NONE' && <span class="mark warning">{plain(health.recommendedAction)}</span>}
      </p>
      <IncidentsOf guid={node.guid} name={node.name} />
      {health?.reasons.map((reason, index) => <p key={index}>{reason.message}</p>)}
      <Facts>
        <Fact name={isEthernet ? 'Id in Weft' : 'GUID'}><code>{node.guid}</code></Fact>
        {node.host !== node.name && <Fact name="Host">{isAdapter ? <a href={toHost(node.host)}>{node.host}</a> : node.host}</Fact>}
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
          <tbody>{cabled.map((port) => <PortRow key={port.port} port={port} state={portState(port)} />)}</tbody>
        </table>
      </div>
      {cabled.length < ports.length && <p class="muted">{ports.length - cabled.length} ports without a cable</p>}
      <PortRows node={guid} span={span} href={(other) => toNode(guid, other)} what="Port" nameOf={(port) => nameOfPort(port.port)} />
    </article>
  );
}
