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
}

export function parse(hash: string): Route {
  const [path, query = ''] = hash.split('?');
  const [view = '', id = '', sub = '', number = ''] = path.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  const port = Number.parseInt(number, 10);
  const span = parseSpan(query);
  if (view === 'node' && sub === 'port' && port >= 0) return {view: 'port', id, port, span};
  if ((view === 'node' || view === 'host' || view === 'incident' || view === 'plan' || view === 'lists') && id) return {view, id, port: -1, span};
  if (view === 'incidents' || view === 'plans') return {view, id: '', port: -1, span};
  return {view: 'fabric', id: '', port: -1, span};
}

export function go(hash: string): void {
  location.hash = hash;
}

const query = (span: Span) => (span === USUAL ? '' : spanQuery(span));
export const toNode = (guid: string, span = USUAL) => `#/node/${guid}${query(span)}`;
export const toHost = (host: string, span = USUAL) => `#/host/${encodeURIComponent(host)}${query(span)}`;
export const toPort = (guid: string, port: number, span = USUAL) => `#/node/${guid}/port/${port}${query(span)}`;
export const toStall = (span = USUAL) => `#/lists/stall${query(span)}`;
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
