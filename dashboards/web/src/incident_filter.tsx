// SPDX-License-Identifier: Apache-2.0
// Incidents by kind, severity, entity, job and time, open or not. What is asked for is in the address: it survives a look at
// one of them, and can be sent to somebody.

import {get} from './api';
import {List} from './incident_views';
import {usePolled} from './live';
import {Nothing} from './parts';
import {go, toIncidents} from './route';
import type {Incident} from './types';
import {kindName, useClock} from './words';

const SEVERITIES = ['Critical', 'Warning', 'Info'];

/** A field of date and time has the reader's own; weftd is asked in UTC. */
const toUtc = (local: string) => new Date(local).toISOString();

function toLocal(utc: string | null): string {
  const time = new Date(utc ?? '');
  return Number.isNaN(time.getTime()) ? '' : new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What is filled in, by the names of the fields, as weftd takes it. */
export function asked(form: HTMLFormElement): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) {
    const text = String(value).trim();
    if (text) query[name] = name === 'from' || name === 'to' ? toUtc(text) : text;
  }
  return query;
}

/** `query` is that of the address; `kinds`: of what there is. */
export function IncidentFilter({kinds, query}: {kinds: string[]; query: string}) {
  const given = new URLSearchParams(query);
  const [kind, severity] = [given.get('kind') ?? '', given.get('severity') ?? ''];
  const listed = [...new Set([...kinds, kind])].filter(Boolean).sort();
  return (
    <details key={query} class="filter" open={query !== ''}>
      <summary>Find incidents</summary>
      <form onSubmit={(event) => { event.preventDefault(); go(toIncidents(asked(event.currentTarget))); }}
        onReset={() => go(toIncidents())}>
        <label>Kind
          <select name="kind"><option value="">any</option>
            {listed.map((each) => <option key={each} value={each} selected={each === kind}>{kindName(each)}</option>)}
          </select>
        </label>
        <label>Severity
          <select name="severity"><option value="">any</option>
            {SEVERITIES.map((each) => <option key={each} value={each} selected={each === severity}>{each}</option>)}
          </select>
        </label>
        <label>Host, switch, port or link <input name="entity" autoComplete="off" defaultValue={given.get('entity') ?? ''} /></label>
        <label>Job <input name="job" autoComplete="off" defaultValue={given.get('job') ?? ''} /></label>
        <label>Open after <input name="from" type="datetime-local" defaultValue={toLocal(given.get('from'))} /></label>
        <label>Open before <input name="to" type="datetime-local" defaultValue={toLocal(given.get('to'))} /></label>
        <p class="actions"><button type="submit" class="primary">Find</button><button type="reset">Clear</button></p>
      </form>
    </details>
  );
}

export function FoundIncidents({query}: {query: string}) {
  const now = useClock();
  const {value, error} = usePolled<Incident[]>(`found-${query}`, 10_000, async () =>
    (await get<{incidents: Incident[]}>(`/api/v1/incidents?state=all&${query}`)).incidents);
  return (
    <>
      <h2 id="found-incidents">Found {!error && <span class="count">{value ? value.length : '…'}</span>}</h2>
      {error && <p class="trouble" role="alert">{error.message}</p>}
      {value && !value.length && <Nothing what="No such incidents" />}
      {value && <List incidents={[...value].reverse()} now={now} />}
    </>
  );
}
