// SPDX-License-Identifier: Apache-2.0
// Where the reader is, after the "#": what is open survives a reload and can be sent to somebody.

import {useEffect, useState} from 'preact/hooks';
import {parseSpan, spanQuery, USUAL, type Span} from './history';

export interface Route {
  view: 'fabric' | 'incidents' | 'incident' | 'plans' | 'plan' | 'node' | 'port' | 'host' | 'lists';
  id: string;
  port: number;
  /** Which time charts show. */
  span: Span;
  /** Of lists: which incidents, as weftd is asked for them, what maintenance is begun for, or which acceptance. Empty: nothing is asked for. */
  query: string;
}

/** Conditions of the list of incidents; times are RFC 3339. */
export type IncidentQuery = Partial<Record<'kind' | 'severity' | 'entity' | 'job' | 'from' | 'to', string>>;

export function parse(hash: string): Route {
  const [path, query = ''] = hash.split('?');
  const [view = '', id = '', sub = '', number = ''] = path.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  const port = Number.parseInt(number, 10);
  const span = parseSpan(query);
  if (view === 'node' && sub === 'port' && port >= 0) return {view: 'port', id, port, span, query: ''};
  if ((view === 'node' || view === 'host' || view === 'incident' || view === 'plan' || view === 'lists') && id) return {view, id, port: -1, span, query: view === 'lists' ? query : ''};
  if (view === 'incidents') return {view, id: '', port: -1, span: USUAL, query};
  return {view: view === 'plans' ? view : 'fabric', id: '', port: -1, span, query: ''};
}

export function go(hash: string): void {
  location.hash = hash;
}

const timeQuery = (span: Span) => (span === USUAL ? '' : spanQuery(span));
export const toNode = (guid: string, span = USUAL) => `#/node/${guid}${timeQuery(span)}`;
export const toHost = (host: string, span = USUAL) => `#/host/${encodeURIComponent(host)}${timeQuery(span)}`;
export const toPort = (guid: string, port: number, span = USUAL) => `#/node/${guid}/port/${port}${timeQuery(span)}`;
export const toStall = (span = USUAL) => `#/lists/stall${timeQuery(span)}`;
export const toIncidents = (of: IncidentQuery = {}) => `#/incidents${Object.keys(of).length ? `?${new URLSearchParams(of)}` : ''}`;
export const toMaintenance = (what: string) => `#/lists/maintenance?${new URLSearchParams({what})}`;
/** Without an id: to all of them. */
export const toAcceptance = (id = '') => `#/lists/acceptance${id && `?${new URLSearchParams({run: id})}`}`;
export const toIncident = (id: string) => `#/incident/${id}`;
export const toPlan = (id: string) => `#/plan/${id}`;

function current(): Route {
  try {
    return parse(location.hash);
  } catch {
    return parse(''); // a percent sign that stands for nothing
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const listener = () => setRoute(current());
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
  return route;
}
