// SPDX-License-Identifier: Apache-2.0
// A host as people know it: its adapters side by side, its collector and jobs, its health and why, and its plans.

import {get} from './api';
import type {Span} from './history';
import {useLive, usePolled} from './live';
import {LinksOf, PortMark, useDrawn, usePortWord, Verdict, type NodeAnswer} from './node_views';
import {Fact, Facts, Nothing, SeverityMark, ShardMark, StateMark} from './parts';
import {PortRows} from './port_rows';
import {toHost, toIncident, toPlan, toPort} from './route';
import type {Collector, Health, Node, Plan} from './types';
import {readingText} from './units';
import {bits, byName, kindName, linkWord, percent, plain, portName, since, useClock, withoutPrefix} from './words';

type Reason = Health['reasons'][number];

function Reasons({reasons, several}: {reasons: Reason[]; several: boolean}) {
  if (!reasons.length) return null;
  return (
    <ul class="plain-list" aria-label="Why">
      {reasons.map((reason, index) => (
        <li key={index}>
          {reason.incidentId && <><SeverityMark severity={reason.severity} /> <a href={toIncident(reason.incidentId)}>{reason.incidentId} {kindName(reason.kind)}</a> </>}
          {several && <ShardMark shard={reason.shard} />}
          {reason.planId && <><span class="mark neutral">Plan</span> <a href={toPlan(reason.planId)}>{reason.planId}</a> </>}
          {reason.maintenanceId && <span class="mark neutral">{reason.maintenanceId}</span>} {reason.message}
        </li>
      ))}
    </ul>
  );
}

function CollectorFacts({collector}: {collector?: Collector}) {
  const now = useClock();
  if (!collector) return <Fact name="Collector">none reports: PCIe, optics and jobs of this host are not known</Fact>;
  const bad = collector.sources.filter((source) => !source.ok);
  return (
    <>
      <Fact name="Collector">
        <StateMark word={collector.state} good={collector.state === 'CONNECTED'} bad={collector.state === 'DISCONNECTED'} />{' '}
        {collector.version} <span class="muted">heard {since(collector.heard, now)} ago</span>
        {bad.map((source) => <p key={source.name} class="trouble">{source.name}: {source.message}</p>)}
      </Fact>
      <Fact name="Jobs">{collector.jobs.length ? collector.jobs.join(', ') : 'none'}</Fact>
    </>
  );
}

/** Columns of the adapters, where a collector reads them. */
const HOST_READINGS: [string, string][] = [
  ['pcie_read_stall', 'PCIe read stall'], ['pcie_write_stall', 'PCIe write stall'], ['module_temperature', 'Module'],
  ['module_receive_power', 'Optical in'], ['module_transmit_power', 'Optical out'],
];

interface AdaptersProps {
  host: string;
  adapters: Node[];
  collector?: Collector;
  span: Span;
}

function Adapters({host, adapters, collector, span}: AdaptersProps) {
  const portState = usePortWord();
  const readOf = (device: string, port: number) => collector?.ports?.find((each) => each.device === device && each.port === port)?.counters ?? [];
  const names = HOST_READINGS.filter(([name]) => collector?.ports?.some((port) => port.counters.some((each) => each.name === name)));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Adapters">
      <table class="adapters">
        <thead><tr><th scope="col">Adapter</th><th scope="col">State</th><th scope="col">Leads to</th><th scope="col">Rate</th><th scope="col" class="figure">Sends</th>
          <th scope="col" class="figure">Receives</th><th scope="col" class="figure">Stall</th>
          {names.map(([name, title]) => <th key={name} scope="col" class="figure">{title}</th>)}</tr></thead>
        <tbody>
          {adapters.flatMap((adapter) => adapter.ports.filter((port) => port.port > 0).map((port) => {
            const device = withoutPrefix(adapter.name, host);
            const readings = readOf(device, port.port);
            const state = portState(port);
            return (
              <tr key={`${port.nodeGuid}/${port.port}`}>
                <th scope="row"><a href={toPort(port.nodeGuid, port.port, span)}>{device}{adapter.portCount > 1 && ` port ${port.port}`}</a></th>
                <PortMark port={port} state={state} />
                <td>{port.peer ? <a href={toPort(port.peer.nodeGuid, port.peer.port, span)}>{portName(port.peer)}</a> : '–'}</td>
                <td class={state.isOld ? 'muted' : ''}>{linkWord(port) || '–'}{state.isOld && ', old'}</td>
                <td class="figure">{bits(port.rates?.transmitBitsPerSecond)}</td>
                <td class="figure">{bits(port.rates?.receiveBitsPerSecond)}</td>
                <td class="figure">{percent(port.rates?.stallRatio)}</td>
                {names.map(([name]) => <td key={name} class="figure">{readingText(readings.filter((each) => each.name === name))}</td>)}
              </tr>
            );
          }))}
        </tbody>
      </table>
    </div>
  );
}

/** Those that concern the host; none: not known yet. */
function Plans({plans}: {plans?: Plan[]}) {
  return (
    <>
      <h3>Plans and drains</h3>
      {!plans ? <p class="muted">Loading …</p> : plans.length ? (
        <ul class="plain-list">
          {plans.map((plan) => (
            <li key={plan.id}><ShardMark shard={plan.shard} /><a href={toPlan(plan.id)}>{plan.id}</a> {plain(plan.action)}: {plain(plan.state).toLowerCase()}{plan.inForce && ', in force'}</li>
          ))}
        </ul>
      ) : <p class="muted">No plan concerns this host.</p>}
    </>
  );
}

function HealthOf({what, health}: {what: string; health?: Health}) {
  return (
    <>
      <p class="marks">
        <span class="mark neutral">{what}</span>
        {health && <Verdict health={health} />}
        {health && health.recommendedAction !== 'NONE' && <span class="mark warning">{plain(health.recommendedAction)}</span>}
      </p>
      {health && <Reasons reasons={health.reasons} several={(health.shards ?? []).length > 1} />}
    </>
  );
}

/** A host that no fabric has: what its collector tells of it. */
function CollectorOnly({collector, health}: {collector: Collector; health?: Health}) {
  const {host, ports = []} = collector;
  return (
    <article aria-labelledby="host">
      <p class="crumbs"><a href="#/lists/collectors">Collectors</a> / {host}</p>
      <h2 id="host"><ShardMark shard={collector.shard} />{host}</h2>
      <HealthOf what="Host" health={health} />
      <LinksOf name={host} />
      <Facts><CollectorFacts collector={collector} /></Facts>
      <p class="muted">No fabric that is monitored has an adapter of this host.</p>
      {ports.length > 0 && <p>Its collector reads {ports.map(({device, port}) => `${device}${port ? ` port ${port}` : ''}`).join(', ')}.</p>}
    </article>
  );
}

export function HostView({host, span}: {host: string; span: Span}) {
  const live = useLive();
  const path = `/api/v1/nodes/${encodeURIComponent(host)}`;
  const {value, error} = usePolled<NodeAnswer>(`host-${host}`, 3000, async () => {
    const answer = await get<NodeAnswer>(path);
    return {...answer, nodes: answer.nodes.filter((node) => node.host === host)};
  });
  const {value: health} = usePolled<Health>(`health-${host}`, 5000, () => get<Health>(`${path}/health`));
  const collectors = usePolled<Collector[]>(`collector-${host}`, 10_000, async () =>
    (await get<{collectors: Collector[]}>(`/api/v1/collectors?host=${encodeURIComponent(host)}&readings=1`)).collectors);
  const {node, why} = useDrawn({value, error});
  const collector = collectors.value?.find((each) => each.host === host);
  // Of the shards that answer, and not before the first sweep.
  const isUnknown = !!live.state?.ready && (value ? !value.nodes.length : error?.status === 404);
  if (isUnknown && collector) return <CollectorOnly collector={collector} health={health} />;
  // A collector may report a host that no fabric has.
  const isAsked = collectors.value || collectors.error;
  if (!node) return isUnknown && isAsked ? <Nothing what={`There is no host ${host}`} /> : <p class="muted">{isUnknown ? 'Loading …' : why}</p>;
  const {shard} = node;
  const adapters = (value?.nodes ?? []).filter((each) => each.shard === shard).sort((a, b) => byName(a.name, b.name));
  const guids = new Set(adapters.map((adapter) => adapter.guid));
  const plans = live.plans?.filter(({target}) => target && (target.host === host || guids.has(target.nodeGuid) || guids.has(target.peerGuid)));
  const fabrics = [...new Set(adapters.map((adapter) => adapter.fabric))];
  return (
    <article aria-labelledby="host">
      <p class="crumbs"><a href="#/">Fabric</a> / {shard && `${shard} / `}{fabrics.join(', ')}</p>
      <h2 id="host">{host}</h2>
      <HealthOf what={`Host, ${adapters.length} ${adapters.length === 1 ? 'adapter' : 'adapters'}`} health={health} />
      <LinksOf name={host} />
      <Facts>{collectors.value ? <CollectorFacts collector={collector} />
        : <Fact name="Collector">{collectors.error ? collectors.error.message : '…'}</Fact>}</Facts>
      <h3>Adapters</h3>
      <Adapters host={host} adapters={adapters} collector={collector} span={span} />
      <Plans plans={plans} />
      <PortRows node={host} span={span} href={(other) => toHost(host, other)} what="Adapter"
        nameOf={(port) => withoutPrefix(port.node, host) + (adapters.find((each) => each.guid === port.nodeGuid)?.portCount === 1 ? '' : ` port ${port.port}`)
          + (adapters.some((each) => each.name === port.node && each.guid !== port.nodeGuid) ? ` (${port.nodeGuid})` : '')} />
    </article>
  );
}
