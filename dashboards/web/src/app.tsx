// SPDX-License-Identifier: Apache-2.0
// The frame: what is where, how fresh it is, and who asks.

import {useEffect, useMemo, useState} from 'preact/hooks';
import {token, weftdNow} from './api';
import {BadNodes} from './bad_list';
import {NOTHING_BAD, type BadList} from './bad_nodes';
import {BusiestCables, NOTHING_BUSY, type Busiest} from './busiest';
import {Brakes} from './hands_off';
import {HostView} from './host_view';
import {IncidentList, IncidentView} from './incident_views';
import {Lists} from './list_views';
import {giveToken, isSite, ownShard, shardShown, showShard, useLive, useMapOf, type Picture} from './live';
import type {FabricMap, Incident, MapState, Severity, Shard} from './types';
import {MapView} from './map_view';
import {NodeView} from './node_views';
import {isOver} from './plan_standing';
import {PlanList, PlanView} from './plan_views';
import {PortView} from './port_view';
import {go, useRoute, type Route} from './route';
import {Search} from './search';
import {clock, seconds, useClock} from './words';

function Tabs({route}: {route: Route}) {
  const {incidents, plans} = useLive();
  const waiting = plans?.filter((plan) => !isOver(plan)).length;
  const tab = (href: string, name: string, views: string[], count?: number) => (
    <a href={href} aria-current={views.includes(route.view) ? 'page' : undefined}>
      {name}{count ? <span class="count">{count}</span> : null}
    </a>
  );
  return (
    <nav aria-label="Views">
      {tab('#/', 'Fabric', ['fabric', 'node', 'port', 'host'])}
      {tab('#/incidents', 'Incidents', ['incidents', 'incident'], incidents?.length)}
      {tab('#/plans', 'Plans', ['plans', 'plan'], waiting)}
      {tab('#/lists/worst', 'Lists', ['lists'])}
    </nav>
  );
}

function TokenForm({onDone}: {onDone?: () => void}) {
  // Read from the field itself: a password manager fills it and submits before anything is drawn anew.
  const submit = (form: HTMLFormElement) => {
    giveToken(String(new FormData(form).get('token') ?? '').trim());
    onDone?.();
  };
  return (
    <form class="token" onSubmit={(event) => { event.preventDefault(); submit(event.currentTarget); }}>
      <label>Token
        <input type="password" name="token" autoComplete="off" />
      </label>
      <button type="submit" class="primary">Sign in</button>
      {token() && <button type="button" onClick={() => { giveToken(''); onDone?.(); }}>Forget the token</button>}
      <p class="muted">The token is kept in this tab only, until it is closed. Those who run weftd make one: <code>make-token</code>, see security.md in the guide.</p>
    </form>
  );
}

function Who() {
  const {name, role, refused} = useLive();
  const [open, setOpen] = useState(false);
  // weftd calls whoever shows neither a token nor a certificate "anybody"; before its first answer there is no name.
  const signedIn = name !== '' && name !== 'anybody';
  const allowed = role === 'viewer' ? 'read only' : role;
  return (
    <div class="who">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}
        aria-label={signedIn ? `Signed in as ${name}, ${role}: use another token` : `Not signed in${refused ? '' : `, ${allowed}`}: sign in with a token`}>
        {signedIn ? (name === role ? role : `${name} · ${role}`) : refused ? 'Not signed in' : <><span class="wide">Not signed in · </span>{allowed}</>}
      </button>
      {open && (
        <div class="popup">
          {!signedIn && !refused && role === 'viewer' && (
            <p>Without a token everything can be read. To decide on plans and to acknowledge incidents, use one of the role operator.</p>
          )}
          <TokenForm onDone={() => setOpen(false)} />
        </div>
      )}
    </div>
  );
}

/** A change of the leader is told for so long. */
const SUCCESSION_MS = 300_000;

/** Says so when the server is lost, or when the server itself sees nothing fresh. */
function Notices() {
  const {lost, heardAt, state, refused, missing, succession, remedy} = useLive();
  useClock();
  const age = (performance.now() - heardAt) / 1000;
  const blind = state?.fabrics.filter((fabric) => !fabric.watching) ?? [];
  return (
    <div class="notices" role="status" aria-live="assertive">
      {lost && (
        <p class="notice lost">
          <b>weftd is unreachable.</b>{' '}
          {heardAt ? `The data shown is ${seconds(age)} old.` : 'No data yet.'} Retrying every second.
        </p>
      )}
      {refused && <div class="notice"><p>{refused}</p><TokenForm /></div>}
      {!lost && blind.map((fabric) => (
        <p key={fabric.fabric} class="notice"><b>{fabric.fabric} is not monitored:</b> {fabric.status}</p>
      ))}
      {!lost && remedy && <Brakes {...remedy} />}
      {!lost && remedy?.silentManagers?.map((fabric, at) => (
        <p key={fabric} class="notice">
          <b>The subnet manager of {fabric} does not answer (noticed at {clock(remedy?.silentSince?.[at])}):</b>{' '}
          nothing is routed round a failure, and no link is taken out of service. <a href="/runbooks/remedies">What to do</a>
        </p>
      ))}
      {!lost && remedy?.ordersFrom && Date.parse(remedy.ordersFrom) > weftdNow() && (
        <p class="notice">
          <b>This weftd has just taken over:</b> plans wait until {clock(remedy.ordersFrom)}, for the last order of the weftd
          that led before may still come.
        </p>
      )}
      {!lost && missing.map((shard) => (
        <p key={shard} class="notice"><b>Shard {shard} does not answer:</b> what it owns is not shown.</p>
      ))}
      {!lost && succession && Date.now() - succession.at < SUCCESSION_MS && (
        <p class="notice">
          <b>The leader changed at {clock(new Date(succession.at).toISOString())}:</b>{' '}
          {succession.leader ? `${succession.leader} leads now.` : 'nobody leads yet.'} Incidents and plans keep their ids.
        </p>
      )}
      {!lost && (state?.leads === false || state?.held === false) && <p class="notice">{state.role}</p>}
      {!lost && state && !state.storeOk && <p class="notice"><b>Not all data is stored:</b> {state.storeStatus}</p>}
    </div>
  );
}

interface Selected {
  selected: string;
  port: number;
  /** The host that is meant as a whole; empty: none. */
  host: string;
  /** The shard that it is of; empty: not known. */
  shard: string;
}

/** Of the map that is shown. */
interface Drawn {
  onBad: (bad: BadList) => void;
  onBusy: (busiest: Busiest) => void;
}

const SEVERITIES: Severity[] = ['CRITICAL', 'WARNING', 'INFO'];

/** Of the open incidents, by shard and severity. */
function countOpen(incidents: Incident[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const {shard, severity} of incidents) counts.set(`${shard} ${severity}`, (counts.get(`${shard} ${severity}`) ?? 0) + 1);
  return counts;
}

/** How a shard is, in a word or two. What one that does not answer said last, nobody knows to be so still. */
function ShardState({name, neverLed, trouble, silent, counts}: Shard & {silent: boolean; counts?: Map<string, number>}) {
  if (silent) return <span class="mark neutral">does not answer</span>;
  if (neverLed) return <span class="mark neutral">not started yet</span>;
  if (!counts) return null;
  const open = SEVERITIES.map((severity) => ({word: severity.toLowerCase(), count: counts.get(`${name} ${severity}`) ?? 0})).filter(({count}) => count);
  if (!open.length) return <span class={`mark ${trouble ? 'neutral' : 'good'}`}>nothing open</span>;
  return <>{open.map(({word, count}) => <span key={word} class={`mark ${word}`}>{count} {word}</span>)}</>;
}

/** All shards of the site and how each is, by the answer that the list of incidents and the notices show; choosing one draws its fabrics. */
function Shards() {
  const {shards, incidents, missing} = useLive();
  const counts = useMemo(() => incidents && countOpen(incidents), [incidents]);
  if (!isSite()) return null;
  return (
    <div class="shards" role="group" aria-label="Shards">
      {shards.map((each) => {
        const silent = missing.includes(each.name);
        return (
          <button key={each.name} type="button" aria-pressed={each.name === shardShown()} title={each.trouble || undefined}
            onClick={() => { showShard(each.name); go('#/'); }}>
            <b>{each.name}</b> <ShardState {...each} silent={silent} counts={counts} />
          </button>
        );
      })}
    </div>
  );
}

function Maps(what: Selected & Drawn) {
  const {shard, map, state} = useLive();
  useEffect(() => { if (what.shard) showShard(what.shard); }, [what.shard, what.selected]);
  return (
    <>
      <Shards />
      {shard && shard !== ownShard() ? <MapOfShard key={shard} {...what} shard={shard} />
             : <Fabrics map={map} state={state} {...what} />}
    </>
  );
}

/** Of another shard. What it does not tell now is not drawn: nobody knows whether it is so still. */
function MapOfShard({shard, ...what}: Selected & Drawn) {
  const {value, error} = useMapOf(shard);
  if (!value) return <section class="map"><p class="muted empty" role="status">{error ? `Not shown: ${error.message}` : 'Loading …'}</p></section>;
  return (
    <>
      {value.state.fabrics.filter((each) => !each.watching).map((each) => (
        <p key={each.fabric} class="notice"><b>{each.fabric} is not monitored:</b> {each.status}</p>
      ))}
      <Fabrics map={value.map} state={value.state} {...what} />
    </>
  );
}

/** In place of a drawing. */
function noFabric({notReady}: MapState) {
  return notReady ? `${notReady.charAt(0).toUpperCase()}${notReady.slice(1)}.` : 'No fabric is monitored yet.';
}

function Fabrics({map, state, ...what}: {map?: FabricMap[]; state?: MapState} & Omit<Selected, 'shard'> & Drawn) {
  const [chosen, setChosen] = useState('');
  const owner = map?.find((each) => each.guids.includes(what.selected));
  const shown = owner ?? map?.find((each) => each.fabric === chosen) ?? map?.[0];
  const how = state?.fabrics.find((each) => each.fabric === shown?.fabric);
  if (!shown || !how) return <section class="map"><p class="muted empty">{state ? noFabric(state) : 'Loading …'}</p></section>;
  return (
    <>
      {map && map.length > 1 && (
        <label class="which">Fabric{' '}
          <select value={shown.fabric} onChange={(event) => { setChosen(event.currentTarget.value); go('#/'); }}>
            {map.map((each) => <option key={each.fabric}>{each.fabric}</option>)}
          </select>
        </label>
      )}
      <MapView key={shown.fabric} map={shown} state={how} {...what} />
    </>
  );
}

function Side({route, bad, busiest}: {route: Route; bad: BadList; busiest: Busiest}) {
  switch (route.view) {
    case 'incident': return <IncidentView key={route.id} id={route.id} />;
    case 'plan': return <PlanView key={route.id} id={route.id} />;
    case 'plans': return <PlanList />;
    case 'node': return <NodeView key={route.id} guid={route.id} span={route.span} />;
    case 'host': return <HostView key={route.id} host={route.id} span={route.span} />;
    case 'port': return <PortView key={`${route.id}/${route.port}`} guid={route.id} number={route.port} span={route.span} />;
    case 'incidents': return <IncidentList withEnded query={route.query} />;
    case 'lists': return <Lists key={route.id} which={route.id} span={route.span} query={route.query} />;
    default: return <><IncidentList /><BadNodes {...bad} /><BusiestCables {...busiest} /></>;
  }
}

/** One of the host's; empty where the map does not have it. */
function adapterOf(host: string, {map}: Picture): string {
  for (const {hosts, guids, types} of map ?? []) {
    const at = hosts.findIndex((each, index) => each === host && types[index] !== 'S');
    if (at >= 0) return guids[at];
  }
  return '';
}

/** What the reader looks at, to be shown in the drawing. */
function selectedBy(route: Route, live: Picture): Selected {
  if (route.view === 'node' || route.view === 'port') return {selected: route.id, port: route.port, host: '', shard: ''};
  if (route.view === 'host') return {selected: adapterOf(route.id, live), port: -1, host: route.id, shard: ''};
  const incident = route.view === 'incident' ? live.incidents?.find((each) => each.id === route.id) : undefined;
  const plan = route.view === 'plan' ? live.plans?.find((each) => each.id === route.id) : undefined;
  const entity = incident?.cause ?? plan?.target;
  const hasPort = entity?.kind === 'LINK' || entity?.kind === 'PORT';
  return {selected: entity?.nodeGuid ?? '', port: entity && hasPort ? entity.port : -1, host: '', shard: incident?.shard || plan?.shard || ''};
}

export function App() {
  const route = useRoute();
  const live = useLive();
  const [bad, setBad] = useState(NOTHING_BAD);
  const [busiest, onBusy] = useState(NOTHING_BUSY);
  // Nothing was heard before, either: there is nothing to be loaded.
  const isShut = live.refused !== '' && !live.state && !live.incidents;
  const onBad = (now: BadList) => setBad((before) => (JSON.stringify(before) === JSON.stringify(now) ? before : now));
  useEffect(() => {
    const open = live.incidents?.length;
    document.title = live.lost ? 'Weft: lost' : open ? `(${open}) Weft` : 'Weft';
  });
  return (
    <div class={`page ${live.lost ? 'stale' : ''} view-${route.view}`}>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById('content')?.focus(); }}>Skip to the content</a>
      <header>
        <h1><a href="#/">Weft</a></h1>
        <Tabs route={route} />
        <Search />
        {/* What it opened is closed when another view is shown. */}
        <Who key={location.hash} />
      </header>
      <Notices />
      <main>
        <div class="maps">{!isShut && <Maps {...selectedBy(route, live)} onBad={onBad} onBusy={onBusy} />}</div>
        <div class="side" id="content" tabIndex={-1}>{isShut ? <p class="muted">Nothing is shown without a token that may read.</p> : <Side route={route} bad={bad} busiest={busiest} />}</div>
      </main>
    </div>
  );
}
