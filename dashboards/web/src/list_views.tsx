// SPDX-License-Identifier: Apache-2.0
// Lists of what is not drawn: the worst links, what did the most harm, stall over time, collectors, settings that differ, maintenance windows, acceptances, the audit trail.

import {useState} from 'preact/hooks';
import {get} from './api';
import {asked} from './incident_filter';
import type {Span} from './history';
import {Later} from './later';
import {useLive, usePolled} from './live';
import {Maintenance} from './maintenance_view';
import {Nothing, SHARD, ShardCell, Sheet, StateMark} from './parts';
import {toHost, toIncident, toPlan, toPort} from './route';
import {StallView} from './stall_view';
import type {AuditRecord, Collector, PortReference, WorstLink} from './types';
import {byName, clock, errorRate, grouped, percent, portName, seconds, since, useClock} from './words';

const NAMES: Record<string, string> = {worst: 'Worst links', harm: 'Most harm', stall: 'Stall over time', collectors: 'Collectors', drift: 'Settings that differ', maintenance: 'Maintenance', acceptance: 'Acceptance', audit: 'Audit trail'};
const SHOWN_AT_ONCE = 200;

const loadHarm = () => import('./harm_view').then(({Harm}) => Harm);
const loadAcceptances = () => import('./acceptance_view').then(({Acceptances}) => Acceptances);
const loadDrift = () => import('./drift_view').then(({DriftView}) => DriftView);

function PortLink({port}: {port?: PortReference}) {
  return port ? <a href={toPort(port.nodeGuid, port.port)}>{portName(port)}</a> : <>not known</>;
}

/** `since`: what is counted, and since when. */
const MEASURES: Record<string, {name: string; unit: string; since: string; text: (value: number) => string}> = {
  errors: {
    name: 'errors', unit: 'Errors per bit', text: errorRate,
    since: 'Errors per bit in the error window of each link that runs now, or the last one: seconds on a fast link, at most 30 min unless configured otherwise. The charts of a port have those before.',
  },
  flaps: {
    name: 'flaps', unit: 'Went down', text: (value) => `${grouped(String(value))} times`,
    since: 'How often a port went down since its counter was last reset. The charts of a port have the times.',
  },
  stall: {name: 'senders that wait', unit: 'Waits', text: percent, since: 'Share of time with data to send and no credit, between the last two readings.'},
};

function WorstLinks() {
  useLive(); // of how many shards the site is
  const [by, setBy] = useState('errors');
  const {value, error} = usePolled<WorstLink[]>(`worst-${by}`, 5000, async () =>
    (await get<{links: WorstLink[]}>(`/api/v1/links/worst?by=${by}&limit=50`)).links);
  const measure = MEASURES[by];
  return (
    <>
      <label class="choose">By{' '}
        <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
          {Object.entries(MEASURES).map(([key, each]) => <option key={key} value={key}>{each.name}</option>)}
        </select>
      </label>
      <p class="muted measure">{measure.since}</p>
      {error ? <p class="trouble">{error.message}</p> : !value && <p class="muted">Loading …</p>}
      {value && !value.length && <Nothing what={`No link has ${measure.name}`} good />}
      {value && value.length > 0 && (
        <Sheet head={[measure.unit, SHARD, 'At', 'One end', 'Other end', 'State']}>
          {value.map((each, index) => (
            <tr key={index}>
              <td>{measure.text(each.value)}</td>
              <ShardCell shard={each.link?.shard} />
              <td><PortLink port={each.at} /></td>
              <td><PortLink port={each.link?.a} /></td>
              <td><PortLink port={each.link?.b} /></td>
              <td>{each.link?.up ? 'up' : 'down'}</td>
            </tr>
          ))}
        </Sheet>
      )}
    </>
  );
}

/** Trouble first, then by name. */
function inOrder(collectors: Collector[]): Collector[] {
  const rank = {DISCONNECTED: 0, SILENT: 1, CONNECTED: 2};
  return [...collectors].sort((a, b) => rank[a.state] - rank[b.state] || byName(a.host, b.host));
}

function Collectors() {
  const now = useClock();
  const [all, setAll] = useState(false);
  const {value, error} = usePolled<Collector[]>('collectors', 10_000, async () =>
    inOrder((await get<{collectors: Collector[]}>('/api/v1/collectors')).collectors));
  if (error) return <p class="trouble">{error.message}</p>;
  if (!value) return <p class="muted">Loading …</p>;
  if (!value.length) return <Nothing what="No collectors" />;
  const shown = all ? value : value.slice(0, SHOWN_AT_ONCE);
  return (
    <>
      <Sheet head={['Host', SHARD, 'State', 'Last heard', 'Behind', 'Clock', 'Lost', 'Address', 'Version', 'Sources in trouble']}>
        {shown.map((each) => (
          <tr key={`${each.shard}/${each.host}`}>
            <th scope="row"><a href={toHost(each.host)}>{each.host}</a></th>
            <ShardCell shard={each.shard} />
            <td><StateMark word={each.state} good={each.state === 'CONNECTED'} bad={each.state !== 'CONNECTED'} /></td>
            <td>{each.heard ? `${since(each.heard, now)} ago` : 'never'}</td>
            <td>{each.behindSeconds === undefined ? '–' : seconds(each.behindSeconds)}</td>
            <td>{each.behindSeconds === undefined ? '–' : `${(each.clockOffsetSeconds * 1000).toFixed(1)} ms`}</td>
            <td>{grouped(each.lostBatches)}</td>
            <td>{each.address || '–'}</td>
            <td>{each.version || '–'}</td>
            <td>{each.sources.filter((source) => !source.ok).map((source) => `${source.name}: ${source.message}`).join('; ') || '–'}</td>
          </tr>
        ))}
      </Sheet>
      {shown.length < value.length && <button type="button" onClick={() => setAll(true)}>Show all {value.length}</button>}
    </>
  );
}

interface AuditPage {
  records: AuditRecord[];
  nextPageToken: string;
}

/** The newest records first. A page stays as it was read: the trail is never changed, only added to. */
function Audit() {
  const [query, setQuery] = useState('');
  const [tokens, setTokens] = useState(['']);
  const token = tokens[tokens.length - 1];
  const path = `/api/v1/audit?${query}${query && '&'}page_token=${encodeURIComponent(token)}`;
  const {value, error} = usePolled<AuditPage>(path, 10_000, () => get<AuditPage>(path));
  const read = (form: HTMLFormElement) => {
    setTokens(['']);
    setQuery(new URLSearchParams(asked(form)).toString());
  };
  return (
    <>
      <form class="filter" onSubmit={(event) => { event.preventDefault(); read(event.currentTarget); }}>
        <label>User <input name="who" autoComplete="off" /></label>
        <label>Action <input name="what" autoComplete="off" /></label>
        <label>After <input name="from" type="datetime-local" /></label>
        <label>Before <input name="to" type="datetime-local" /></label>
        <button type="submit">Find</button>
      </form>
      {error ? <p class="trouble" role="alert">{error.message}</p> : !value && <p class="muted">Loading …</p>}
      {value && !value.records.length && <Nothing what="No such records" />}
      {value && value.records.length > 0 && (
        <Sheet head={['Record', 'Time', 'User', 'Action', 'Of', 'Detail']} stacked>
          {[...value.records].reverse().map((each) => (
            <tr key={`${each.shard}/${each.sequence}`}>
              <th scope="row">{each.shard} {each.sequence}</th>
              <td>{clock(each.at)}</td>
              <td>{each.who}</td>
              <td>{each.what}</td>
              <td>
                {each.planId && <a href={toPlan(each.planId)}>{each.planId}</a>}{' '}
                {each.incidentId && <a href={toIncident(each.incidentId)}>{each.incidentId}</a>}
              </td>
              <td class="long">{each.detail}</td>
            </tr>
          ))}
        </Sheet>
      )}
      <p class="actions">
        {tokens.length > 1 && <button type="button" onClick={() => setTokens(tokens.slice(0, -1))}>Newer</button>}
        {value?.nextPageToken && <button type="button" onClick={() => setTokens([...tokens, value.nextPageToken])}>Older</button>}
      </p>
    </>
  );
}

/** `query`: of the address. */
export function Lists({which, span, query}: {which: string; span: Span; query: string}) {
  const name = Object.hasOwn(NAMES, which) ? which : 'worst';
  return (
    <section aria-labelledby="list-name">
      <nav class="lists" aria-label="Lists">
        {Object.entries(NAMES).map(([key, text]) => (
          <a key={key} href={`#/lists/${key}`} aria-current={key === name ? 'page' : undefined}>{text}</a>
        ))}
      </nav>
      <h2 id="list-name">{NAMES[name]}</h2>
      {name === 'worst' && <WorstLinks />}
      {name === 'harm' && <Later key={name} load={loadHarm} />}
      {name === 'stall' && <StallView span={span} />}
      {name === 'collectors' && <Collectors />}
      {name === 'drift' && <Later key={name} load={loadDrift} />}
      {name === 'maintenance' && <Maintenance what={new URLSearchParams(query).get('what') ?? ''} />}
      {name === 'acceptance' && <Later key={name} load={loadAcceptances} />}
      {name === 'audit' && <Audit />}
    </section>
  );
}
