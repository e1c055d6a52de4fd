// SPDX-License-Identifier: Apache-2.0
// One field for hosts, nodes, ports, cables, jobs, incidents and plans: "/" goes there, arrows choose, Enter opens.

import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {get} from './api';
import {ownShard, showShard, useLive, type Picture} from './live';
import {go, toHost, toIncident, toNode, toPlan, toPort} from './route';
import type {Collector, FabricMap, Node} from './types';
import {kindName, plain} from './words';

interface Hit {
  href: string;
  what: string;
  name: string;
  more: string;
  /** Of a node: the shard to be drawn. */
  shard?: string;
}

const MOST = 12;
const TYPING_MS = 250;
/** A page has nodes of three shards. */
const MOST_PAGES = 8;

/** Jobs, nodes of other shards, and the shards that did not answer. */
interface Elsewhere {
  text: string;
  hits: Hit[];
  missing: string[];
}

async function findElsewhere(text: string): Promise<Elsewhere> {
  const found: Elsewhere = {text, hits: [], missing: []};
  let token = '';
  for (let page = 0; page < MOST_PAGES && found.hits.length < MOST; page++) {
    const query = `contains=${encodeURIComponent(text)}&page_size=${MOST * 3}&page_token=${encodeURIComponent(token)}`;
    const answer = await get<{nodes: Node[]; nextPageToken: string; missingShards: string[]}>(`/api/v1/nodes?${query}`);
    for (const node of answer.nodes) {
      if (node.shard === ownShard()) continue; // those are in the map
      const what = node.type === 'SWITCH' ? 'switch' : 'adapter';
      found.hits.push({href: toNode(node.guid), what: `${node.shard} ${what}`, name: node.name, more: node.guid, shard: node.shard});
    }
    found.missing.push(...answer.missingShards);
    token = answer.nextPageToken;
    if (!token) break;
  }
  return found;
}

/** The hosts that the job holds, as far as their collectors tell. */
async function findJob(job: string): Promise<Hit[]> {
  const {collectors} = await get<{collectors: Collector[]}>(`/api/v1/collectors?job=${encodeURIComponent(job)}&page_size=${MOST}`);
  return collectors.map((each) => {
    const name = each.jobs.find((one) => one === job || one.endsWith(`:${job}`)) ?? job;
    return {href: toHost(each.host), what: 'job', name, more: `holds ${each.host}`, shard: each.shard};
  });
}

/** Asked when nobody typed for a moment: of jobs, and of nodes where weftd is one of several. */
function useElsewhere(text: string, open: boolean): Elsewhere {
  const {shards} = useLive();
  const [found, setFound] = useState<Elsewhere>({text: '', hits: [], missing: []});
  const asked = open ? text.trim() : '';
  const isSite = shards.length > 1;
  useEffect(() => {
    if (!asked || (!isSite && /\s/.test(asked))) return undefined;
    let wanted = true;
    const timer = setTimeout(async () => {
      try {
        const jobs = /\s/.test(asked) ? [] : await findJob(asked);
        const nodes = isSite ? await findElsewhere(asked) : {hits: [], missing: []};
        if (wanted) setFound({text: asked, hits: [...jobs, ...nodes.hits], missing: nodes.missing});
      } catch {
        // What is lost or not allowed as a whole, the page says.
      }
    }, TYPING_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [asked, isSite]);
  return found.text === asked ? found : {text: '', hits: [], missing: []};
}

/** Hosts of several adapters; one of one adapter is found as that. */
function hostsOf(map: FabricMap, fits: (...fields: string[]) => boolean): Hit[] {
  const adapters = new Map<string, number>();
  map.hosts.forEach((host, node) => {
    if (map.types[node] === 'C' && host && host !== map.names[node]) adapters.set(host, (adapters.get(host) ?? 0) + 1);
  });
  return [...adapters].filter(([host]) => fits(host)).map(([host, count]) =>
    ({href: toHost(host), what: 'host', name: host, more: `${count} ${count === 1 ? 'adapter' : 'adapters'}`, shard: ownShard()}));
}

/** "leaf-1 port 12" and "leaf-1:12" are a port and its cable; two names are the cables between them. */
function cablesOf(map: FabricMap, text: string): Hit[] {
  const [, before, digits] = /^(.*?)(?:\s+port\s+|\s*:\s*)(\d+)$/.exec(text) ?? [, text, ''];
  const words = before.split(/\s+/).filter(Boolean);
  if (!words.length || (!digits && words.length < 2)) return [];
  // A name is made lower-case once, however many cables its node has.
  const names = map.names.map((name) => name.toLowerCase());
  const all = (...of: string[]) => words.every((word) => of.some((name) => name.includes(word)));
  const hits: Hit[] = [];
  const add = (node: number, port: number, peer: number, peerPort: number) => hits.push({
    href: toPort(map.guids[node], port), what: digits ? 'port' : 'cable', name: `${map.names[node]} port ${port}`,
    more: `${digits ? 'leads to' : 'to'} ${map.names[peer]} port ${peerPort}`, shard: ownShard(),
  });
  for (let at = 0; at < map.links.length && hits.length < MOST; at += 4) {
    const [a, portA, b, portB] = map.links.slice(at, at + 4);
    if (digits) {
      if (portA === Number(digits) && all(names[a])) add(a, portA, b, portB);
      if (portB === Number(digits) && all(names[b])) add(b, portB, a, portA);
    } else if (all(names[a], names[b]) && !all(names[a]) && !all(names[b])) add(a, portA, b, portB);
  }
  return hits;
}

export function find(picture: Picture, text: string): Hit[] {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const hits: Hit[] = [];
  const fits = (...fields: string[]) => {
    const all = fields.join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  for (const incident of picture.incidents ?? []) {
    if (hits.length < MOST && fits(incident.id, kindName(incident.kind), incident.kind, incident.cause?.label ?? '', incident.summary, incident.headline, ...incident.jobs))
      hits.push({href: toIncident(incident.id), what: 'incident', name: `${incident.id} ${kindName(incident.kind)}`, more: incident.cause?.label ?? ''});
  }
  for (const plan of picture.plans ?? []) {
    if (hits.length < MOST && fits(plan.id, plain(plan.action), plan.target?.label ?? '', plan.target?.host ?? ''))
      hits.push({href: toPlan(plan.id), what: 'plan', name: `${plan.id} ${plain(plan.action)}`, more: plan.target?.label || plan.target?.host || ''});
  }
  for (const map of picture.map ?? []) {
    hits.push(...hostsOf(map, fits).slice(0, MOST - hits.length));
    hits.push(...cablesOf(map, text.trim().toLowerCase()).slice(0, Math.max(0, MOST - hits.length)));
    for (let node = 0; node < map.guids.length && hits.length < MOST * 2; node++) {
      if (map.types[node] === 'A' || !fits(map.names[node], map.guids[node], map.hosts[node])) continue;
      hits.push({href: toNode(map.guids[node]), what: map.types[node] === 'S' ? 'switch' : 'adapter', name: map.names[node], more: map.guids[node], shard: ownShard()});
    }
  }
  return hits.slice(0, MOST);
}

export function Search() {
  const picture = useLive();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const near = useMemo(() => (open ? find(picture, text) : []), [text, open, picture.map, picture.incidents, picture.plans]);
  const far = useElsewhere(text, open);
  const hits = [...near, ...far.hits].slice(0, MOST);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.matches('input, textarea, select, [contenteditable]') && !target.matches('[type=radio]')) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const choose = (hit?: Hit) => {
    if (!hit) return;
    if (hit.shard) showShard(hit.shard);
    go(hit.href);
    setText('');
    setOpen(false);
    input.current?.blur();
    document.getElementById('content')?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, hits.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (event.key === 'Enter') choose(hits[at]);
    else if (event.key === 'Escape') setOpen(false);
    else return;
    event.preventDefault();
  };
  const shown = open && text.trim() !== '';
  return (
    <div class="search" role="search">
      <input ref={input} type="search" value={text} placeholder="Search  /" aria-label="Search hosts, switches, ports, cables, jobs, incidents and plans" autoComplete="off"
        spellcheck={false} role="combobox" aria-expanded={shown} aria-controls="hits" aria-autocomplete="list"
        aria-activedescendant={shown && hits.length ? `hit-${at}` : undefined}
        onInput={(event) => { setText(event.currentTarget.value); setOpen(true); setAt(0); }}
        onFocus={() => setOpen(true)} onBlur={() => setOpen(false)} onKeyDown={onKey} />
      {shown && (
        <ul id="hits" role="listbox" aria-label="Found">
          {hits.map((hit, index) => (
            <li key={`${hit.shard ?? ''} ${hit.what} ${hit.href}`} id={`hit-${index}`} role="option" aria-selected={index === at}
              onPointerDown={(event) => event.preventDefault()} onClick={() => choose(hit)}>
              <span class="muted">{hit.what}</span> <b>{hit.name}</b> <span class="muted more">{hit.more}</span>
            </li>
          ))}
          {!hits.length && <li role="option" aria-selected={false} class="muted">No match</li>}
          {far.missing.map((shard) => <li key={shard} role="option" aria-selected={false} aria-disabled class="muted">shard {shard} does not answer</li>)}
        </ul>
      )}
    </div>
  );
}
