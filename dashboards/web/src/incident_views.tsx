// SPDX-License-Identifier: Apache-2.0
// Incidents: the list of those that are open, and one with its evidence.

import {useState} from 'preact/hooks';
import {Failure, get, post, weftdNow} from './api';
import {Evidence} from './evidence';
import {around, type PortHistory} from './history';
import {EntityHistory} from './history_view';
import {FoundIncidents, IncidentFilter} from './incident_filter';
import {hostOf, isOnMap, refresh, useLive, usePolled} from './live';
import {began, inOrder, weight} from './occurrences';
import {chartsOf, EntityLink, Fact, Facts, HistoryLink, isPort, Nothing, SeverityMark, ShardMark, StateMark, walkList, wholeHost} from './parts';
import {FarEnds, PortRows} from './port_rows';
import {toHost, toIncident, toIncidents, toPlan} from './route';
import {WhatToDo} from './runbook_view';
import type {Advice, Entity, Incident, Severity, Timeline} from './types';
import {clock, kindName, percent, plain, since, useClock, withoutPrefix} from './words';

/** What lists show: the severity while it is open, afterwards the worst one. */
function listed(incident: Incident): Severity {
  return incident.state === 'RESOLVED' && weight(incident.worstSeverity) ? incident.worstSeverity : incident.severity;
}

/** While it is open, what is found; afterwards, what it began with. */
function summaryOf(incident: Incident): string {
  return (incident.state === 'RESOLVED' && incident.headline) || incident.summary;
}

const SHOWN_AT_ONCE = 100;

function Entry({incident, now}: {incident: Incident; now: number}) {
  const severity = listed(incident);
  return (
    <li>
      <a class={`entry ${severity.toLowerCase()}`} href={toIncident(incident.id)}>
        <span class="entry-head">
          <SeverityMark severity={severity} />
          {weight(incident.worstSeverity) > weight(severity) && <span class="muted">worst: {plain(incident.worstSeverity)}</span>}
          <b>{kindName(incident.kind)}</b>
          {incident.state !== 'OPEN' && <span class="muted">{plain(incident.state)}</span>}
          <time class="muted" dateTime={incident.resolved ?? began(incident)}>
            {incident.resolved ? `ended ${since(incident.resolved, now)} ago` : since(began(incident), now)}
          </time>
        </span>
        <span class="entry-what"><ShardMark shard={incident.shard} />{incident.cause?.label || summaryOf(incident)}</span>
        <span class="muted entry-foot">
          {incident.id}
          {incident.jobs.length > 0 && ` · ${incident.jobs.length === 1 ? `job ${incident.jobs[0]}` : `${incident.jobs.length} jobs`}`}
          {incident.maintenanceId && ` · planned work ${incident.maintenanceId}`}
        </span>
      </a>
    </li>
  );
}

/** The worst or newest first, as they are given. */
export function List({incidents, now}: {incidents: Incident[]; now: number}) {
  const [all, setAll] = useState(false);
  const shown = all ? incidents : incidents.slice(0, SHOWN_AT_ONCE);
  return (
    <>
      <ul class="entries" onKeyDown={walkList}>
        {shown.map((incident) => <Entry key={incident.id} incident={incident} now={now} />)}
      </ul>
      {shown.length < incidents.length &&
        <button type="button" onClick={() => setAll(true)}>Show all {incidents.length}</button>}
    </>
  );
}

/** Those that are open; with `withEnded` those that ended too, or with `query` those that it asks for. */
export function IncidentList({withEnded, query = ''}: {withEnded?: boolean; query?: string}) {
  const {incidents, state, missing} = useLive();
  const now = useClock();
  const ended = usePolled<Incident[]>(`ended-${!!withEnded}`, 10_000, withEnded && (async () =>
    (await get<{incidents: Incident[]}>('/api/v1/incidents?state=resolved')).incidents));
  const open = inOrder(incidents ?? []);
  const before = [...(ended.value ?? [])].sort((a, b) => Date.parse(b.resolved ?? '') - Date.parse(a.resolved ?? ''));
  const filter = withEnded && <IncidentFilter kinds={[...open, ...before].map((each) => each.kind)} query={query} />;
  if (query) return <section aria-labelledby="found-incidents">{filter}<FoundIncidents key={query} query={query} /></section>;
  return (
    <section aria-labelledby="open-incidents">
      {filter}
      <h2 id="open-incidents">Open incidents <span class="count">{incidents ? open.length : '…'}</span></h2>
      {incidents && state && !open.length &&
        (missing.length || state.ready ? <Nothing what="No open incidents" good />
         : <p class="muted">No data: a fabric has not been read completely yet.</p>)}
      <List incidents={open} now={now} />
      {/* A phone shows the first ones above the drawing, and leads to the rest. */}
      {!withEnded && open.length > 3 && <p class="rest"><a href="#/incidents">All {open.length} open incidents</a></p>}
      {withEnded && ended.error && <p class="trouble">{ended.error.message}</p>}
      {withEnded && before.length > 0 && (
        <>
          <h2>Ended <span class="count">{before.length}</span></h2>
          <List incidents={before} now={now} />
        </>
      )}
    </section>
  );
}

const SILENCES = [{name: '1 h', length: 3600}, {name: '8 h', length: 8 * 3600}, {name: '24 h', length: 86_400}, {name: '7 d', length: 7 * 86_400}];

/** Acknowledge it, or silence it for a time: it is open all the same, and pages nobody. */
function Attend({incident}: {incident: Incident}) {
  const {role} = useLive();
  const [trouble, setTrouble] = useState('');
  const [length, setLength] = useState(SILENCES[0].length);
  if (role === 'viewer' || incident.state === 'RESOLVED') return null;
  const send = async (verb: string, body: object) => {
    try {
      await post(`/api/v1/incidents/${incident.id}/${verb}`, body);
      setTrouble('');
      refresh();
    } catch (error) {
      setTrouble((error as Failure).message);
    }
  };
  return (
    <p class="actions">
      {incident.state === 'OPEN' && <button type="button" onClick={() => send('acknowledge', {})}>Acknowledge</button>}
      <button type="button" onClick={() => send('silence', {until: new Date(weftdNow() + length * 1000).toISOString()})}>Silence</button>
      <label>for{' '}
        <select value={length} onChange={(event) => setLength(Number(event.currentTarget.value))}>
          {SILENCES.map((each) => <option key={each.length} value={each.length}>{each.name}</option>)}
        </select>
      </label>
      {trouble && <span class="trouble" role="alert">{trouble}</span>}
    </p>
  );
}

const SAYS = ['OPENED', 'REOPENED', 'UPDATED', 'SEVERITY_CHANGED'];

/** What Weft did about it and what people did. */
function History({id}: {id: string}) {
  const {value, error} = usePolled<Timeline>(`timeline-${id}`, 5000, () => get<Timeline>(`/api/v1/incidents/${encodeURIComponent(id)}/timeline`));
  if (error) return <p class="muted">No timeline: {error.message}</p>;
  if (!value?.events.length) return null;
  return (
    <>
      <h3>Timeline</h3>
      {value.leftOut > 0 && <p class="muted">{value.leftOut} older events are not listed</p>}
      <ol class="plain-list timeline">
        {value.events.map((event, index) => (
          <li key={index}>
            {event.leftOut > 0 && <p class="muted">{event.leftOut} entries are not kept</p>}
            <time class="muted" dateTime={event.at}>{clock(event.at)}</time>{' '}
            {event.planId && <><a href={toPlan(event.planId)}>{event.planId}</a> </>}
            {event.maintenanceId && `Maintenance ${event.maintenanceId} `}
            {plain(event.what)}{event.who && ` by ${event.who}`}{' '}
            {event.source === 'INCIDENT' && SAYS.includes(event.what) && <SeverityMark severity={event.severity} />} {event.text}
            {event.numbersAt && <span class="muted"> numbers of {clock(event.numbersAt)}</span>}
          </li>
        ))}
      </ol>
    </>
  );
}

const MOST_PORTS = 8;

/** The other ends of the node's cables that the incident speaks of, as "0x…/12"; those that the map has. */
function farEnds({nodeGuid}: Entity, affected: Entity[]): string[] {
  const cables = affected.filter((each) => each.kind === 'LINK' && [each.nodeGuid, each.peerGuid].includes(nodeGuid));
  return cables.map((each) => (each.nodeGuid === nodeGuid ? {guid: each.peerGuid, port: each.peerPort} : {guid: each.nodeGuid, port: each.port}))
    .filter(({guid}) => isOnMap(guid)).slice(0, MOST_PORTS).map(({guid, port}) => `${guid}/${port}`);
}

/** What the cause did in the time of the incident: of a port or cable its charts, of a switch or host the worst of its ports. */
function CauseHistory({entity, affected, from, to}: {entity: Entity; affected: Entity[]; from: string; to?: string}) {
  if (isPort(entity)) return <EntityHistory entity={entity} from={from} to={to} />;
  const host = wholeHost(entity);
  const node = host || entity.nodeGuid;
  if (!node) return null;
  const nameOf = ({label, node: name}: PortHistory) => withoutPrefix(label, host || name);
  const span = around(from, to);
  const far = farEnds(entity, affected);
  return (
    <PortRows node={node} span={span} href={(other) => chartsOf(entity, other)} nameOf={nameOf} what={host ? 'Adapter' : 'Port'} most={MOST_PORTS}
      instead={far.length > 0 && <FarEnds ports={far} span={span} />} />
  );
}

/** Which part of a link to touch first, how sure that is, and why. */
function AdviceView({advice}: {advice: Advice}) {
  return (
    <section class="advice">
      <h3>Host, cable or switch?</h3>
      <p><b>First:</b> {advice.first}</p>
      <p class="muted">{!advice.isClear && 'Not clear: '}{advice.suspects.map((suspect, index) => (
        <span key={index}>{index > 0 && ', '}{plain(suspect.part).toLowerCase()} {suspect.part !== 'CABLE' && <EntityLink entity={suspect.where} />} {percent(suspect.share)}</span>
      ))}</p>
      <ul>{advice.reasons.map((reason, index) => <li key={index}>{reason}</li>)}</ul>
    </section>
  );
}

export function IncidentView({id}: {id: string}) {
  const live = useLive();
  const now = useClock();
  const asked = usePolled<Incident>(`incident-${id}`, 3000, () => get<Incident>(`/api/v1/incidents/${encodeURIComponent(id)}`));
  const incident = asked.value ?? live.incidents?.find((each) => each.id === id);
  if (!incident) return <p class="muted">{asked.error ? asked.error.message : 'Loading …'}</p>;
  const {cause} = incident;
  const host = cause && (cause.host || hostOf(cause.nodeGuid) || hostOf(cause.peerGuid));
  const plans = (live.plans ?? []).filter((plan) => plan.incidentId === incident.id);
  const from = began(incident);
  return (
    <article aria-labelledby="what">
      <p class="crumbs"><a href="#/incidents">Incidents</a> / {incident.id}</p>
      <h2 id="what">{kindName(incident.kind)}</h2>
      <p class="marks">
        <SeverityMark severity={listed(incident)} />
        {weight(incident.worstSeverity) > weight(listed(incident)) && <span class="mark neutral">worst: {plain(incident.worstSeverity)}</span>}
        <StateMark word={incident.state} good={incident.state === 'RESOLVED'} />
        {incident.occurrences > 1 && <span class="mark neutral">occurred {incident.occurrences} times</span>}
      </p>
      <p class="summary">{incident.state === 'RESOLVED' && 'It was: '}{summaryOf(incident)}</p>
      <Attend incident={incident} />
      <Evidence path={`/api/v1/incidents/${encodeURIComponent(incident.id)}/evidence`} />
      <Facts>
        <Fact name="Cause"><EntityLink entity={incident.cause} /> <span class="muted">confidence {percent(incident.confidence)}</span></Fact>
        {host && <Fact name="Host"><a href={toHost(host)}>{host}</a></Fact>}
        {incident.shard && <Fact name="Shard">{incident.shard}</Fact>}
        <Fact name="Since"><time dateTime={from}>{clock(from)}</time> <span class="muted">{since(from, now)} ago</span>{' '}
          <HistoryLink entity={incident.cause} from={from} to={incident.resolved} /></Fact>
        {incident.occurrences > 1 && <Fact name="First seen">{clock(incident.opened)} <span class="muted">{since(incident.opened, now)} ago</span></Fact>}
        {incident.resolved && <Fact name="Ended">{clock(incident.resolved)}</Fact>}
        <Fact name="Jobs">{incident.jobs.length ? incident.jobs.map((job, index) =>
          <span key={job}>{index > 0 && ', '}<a href={toIncidents({job})}>{job}</a></span>) : 'none known'}</Fact>
        {incident.acknowledgedBy && <Fact name="Acknowledged by">{incident.acknowledgedBy}</Fact>}
        {incident.silencedUntil && <Fact name="Silenced until">{clock(incident.silencedUntil)}</Fact>}
        {incident.maintenanceId && <Fact name="Planned work">{incident.maintenanceId}</Fact>}
      </Facts>
      {plans.length > 0 && (
        <>
          <h3>Plans</h3>
          <ul>{plans.map((plan) => (
            <li key={plan.id}><a href={toPlan(plan.id)}>{plan.id}</a> {plain(plan.action)}: {plain(plan.state).toLowerCase()}</li>
          ))}</ul>
        </>
      )}
      {incident.advice && <AdviceView advice={incident.advice} />}
      <WhatToDo path={incident.runbook} incident={incident.id} />
      <h3>Evidence</h3>
      <ul class="evidence">
        {incident.evidence.map((each, index) => (
          <li key={index}>
            <b>{plain(each.signal)}</b> {each.description}
            {each.observed && <span class="muted"> {clock(each.observed)}, {since(each.observed, now)} ago</span>}{' '}
            <HistoryLink entity={each.where} from={from} to={incident.resolved} name="Charts" />
          </li>
        ))}
      </ul>
      {cause && from && <CauseHistory entity={cause} affected={incident.affected} from={from} to={incident.resolved} />}
      <History id={incident.id} />
      {incident.affected.length > 0 && (
        <>
          <h3>Affected</h3>
          <ul class="plain-list">{incident.affected.slice(0, SHOWN_AT_ONCE).map((each) => <li key={each.identity}><EntityLink entity={each} /></li>)}</ul>
          {incident.affected.length > SHOWN_AT_ONCE && <p class="muted">and {incident.affected.length - SHOWN_AT_ONCE} more</p>}
        </>
      )}
      {incident.waiting.length > 0 && (
        <>
          <h3>Waiting links</h3>
          <ul class="plain-list">{incident.waiting.map((each, index) => (
            <li key={index}><EntityLink entity={each.sender} /> → {each.towards}, waits {percent(each.stallRatio)} of the time</li>
          ))}</ul>
        </>
      )}
    </article>
  );
}
