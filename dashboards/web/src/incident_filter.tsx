// SPDX-License-Identifier: Apache-2.0
// Incidents by kind, severity, entity, job and time, open or not.

import {get} from './api';
import {List} from './incident_views';
import {usePolled} from './live';
import {Nothing} from './parts';
import type {Incident} from './types';
import {kindName, useClock} from './words';

const SEVERITIES = ['Critical', 'Warning', 'Info'];

/** `onChange` takes the query of the path; empty when nothing is asked for. `kinds`: of what there is. */
export function IncidentFilter({kinds, onChange}: {kinds: string[]; onChange: (query: string) => void}) {
  const read = (form: HTMLFormElement) => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) {
      const text = String(value).trim();
      // A field of date and time says the reader's own; weftd is asked in UTC.
      if (text) query.set(name, name === 'from' || name === 'to' ? new Date(text).toISOString() : text);
    }
    onChange(query.toString());
  };
  return (
    <details class="filter">
      <summary>Find incidents</summary>
      <form onSubmit={(event) => { event.preventDefault(); read(event.currentTarget); }}
        onReset={() => onChange('')}>
        <label>Kind
          <select name="kind"><option value="">any</option>
            {[...new Set(kinds)].sort().map((kind) => <option key={kind} value={kind}>{kindName(kind)}</option>)}
          </select>
        </label>
        <label>Severity
          <select name="severity"><option value="">any</option>
            {SEVERITIES.map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
        <label>Host, switch, port or link <input name="entity" autoComplete="off" /></label>
        <label>Job <input name="job" autoComplete="off" /></label>
        <label>Open after <input name="from" type="datetime-local" /></label>
        <label>Open before <input name="to" type="datetime-local" /></label>
        <p class="actions"><button type="submit" class="primary">Find</button><button type="reset">Clear</button></p>
      </form>
    </details>
  );
}

export function FoundIncidents({query}: {query: string}) {
  const now = useClock();
  const {value, error} = usePolled<Incident[]>(`found-${query}`, 10_000, async () =>
    (await get<{incidents: Incident[]}>(`/api/v1/incidents?state=all&${query}`)).incidents);
  if (error) return <p class="trouble" role="alert">{error.message}</p>;
  return (
    <>
      <h2 id="found-incidents">Found <span class="count">{value ? value.length : '…'}</span></h2>
      {value && !value.length && <Nothing what="No such incidents" />}
      {value && <List incidents={[...value].reverse()} now={now} />}
    </>
  );
}
