// SPDX-License-Identifier: Apache-2.0
// Where the reader is, after the "#": what is open survives a reload and can be sent to somebody.

import {useEffect, useState} from 'preact/hooks';

export interface Route {
  view: 'fabric' | 'incidents' | 'incident' | 'plans' | 'plan' | 'node' | 'port' | 'lists';
  id: string;
  port: number;
}

export function parse(hash: string): Route {
  const [view = '', id = '', sub = '', number = ''] = hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  const port = Number.parseInt(number, 10);
  if (view === 'node' && sub === 'port' && port >= 0) return {view: 'port', id, port};
  if ((view === 'node' || view === 'incident' || view === 'plan' || view === 'lists') && id) return {view, id, port: -1};
  if (view === 'incidents' || view === 'plans') return {view, id: '', port: -1};
  return {view: 'fabric', id: '', port: -1};
}

export function go(hash: string): void {
  location.hash = hash;
}

export const toNode = (guid: string) => `#/node/${guid}`;
export const toPort = (guid: string, port: number) => `#/node/${guid}/port/${port}`;
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
