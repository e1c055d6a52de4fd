// SPDX-License-Identifier: Apache-2.0
// One field for hosts, nodes, ports, cables, jobs, incidents and plans: "/" goes there, arrows choose, Enter opens.

import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {isCable, MOST, readText, useElsewhere, type Hit} from './elsewhere';
import {ownShard, showShard, useLive, whyMissing, type Picture} from './live';
import {go, toHost, toIncident, toNode, toPlan, toPort} from './route';
import {ShardMark} from './parts';
import type {FabricMap} from './types';
import {adaptersText, kindName, plain} from './words';

/** Hits of the own map, incidents and plans are gathered up to so many: fewer are all there are. */
const MOST_COUNTED = 100;

/** A host whose adapters have names of their own. */
function hostsOf(map: FabricMap, fits: (...fields: string[]) => boolean): Hit[] {
  const adapters = new Map<string, number>();
  map.hosts.forEach((host, node) => {
    if (map.types[node] === 'C' && host && host !== map.names[node]) adapters.set(host, (adapters.get(host) ?? 0) + 1);
  });
  return [...adapters].filter(([host]) => fits(host)).map(([host, count]) =>
    ({href: toHost(host), what: 'host', name: host, more: adaptersText(count), shard: ownShard()}));
}

/** "leaf-1 port 12" and "leaf-1:12" are a port and its cable; two names are the cables between them. */
function cablesOf(map: FabricMap, text: string): Hit[] {
  const {words, port: wanted} = readText(text);
  if (!isCable({words, port: wanted})) return [];
  const isPort = wanted !== undefined;
  // A name is made lower-case once, however many cables its node has.
  const names = map.names.map((name) => name.toLowerCase());
  const all = (...of: string[]) => words.every((word) => of.some((name) => name.includes(word)));
  const hits: Hit[] = [];
  const add = (node: number, port: number, peer: number, peerPort: number) => hits.push({
    href: toPort(map.guids[node], port), what: isPort ? 'port' : 'cable', name: `${map.names[node]} port ${port}`,
    more: `${isPort ? 'leads to' : 'to'} ${map.names[peer]} port ${peerPort}`, shard: ownShard(),
  });
  for (let at = 0; at < map.links.length && hits.length < MOST_COUNTED; at += 4) {
    const [a, portA, b, portB] = map.links.slice(at, at + 4);
    if (isPort) {
      if (portA === wanted && all(names[a])) add(a, portA, b, portB);
      if (portB === wanted && all(names[b])) add(b, portB, a, portA);
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
    if (hits.length < MOST_COUNTED && fits(incident.id, kindName(incident.kind), incident.kind, incident.cause?.label ?? '', incident.summary, incident.headline, ...incident.jobs))
      hits.push({href: toIncident(incident.id), what: 'incident', name: `${incident.id} ${kindName(incident.kind)}`, more: incident.cause?.label ?? '', shard: incident.shard});
  }
  for (const plan of picture.plans ?? []) {
    if (hits.length < MOST_COUNTED && fits(plan.id, plain(plan.action), plan.target?.label ?? '', plan.target?.host ?? ''))
      hits.push({href: toPlan(plan.id), what: 'plan', name: `${plan.id} ${plain(plan.action)}`, more: plan.target?.label || plan.target?.host || '', shard: plan.shard});
  }
  for (const map of picture.map ?? []) {
    hits.push(...hostsOf(map, fits).slice(0, MOST_COUNTED), ...cablesOf(map, text));
    for (let node = 0; node < map.guids.length && hits.length < MOST_COUNTED; node++) {
      if (map.types[node] === 'A' || !fits(map.names[node], map.guids[node], map.hosts[node])) continue;
      hits.push({href: toNode(map.guids[node]), what: map.types[node] === 'S' ? 'switch' : 'adapter', name: map.names[node], more: map.guids[node], shard: ownShard()});
    }
  }
  return hits;
}

export function Search() {
  const picture = useLive();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const near = useMemo(() => (open ? find(picture, text) : []), [text, open, picture.map, picture.incidents, picture.plans]);
  const far = useElsewhere(text, open);
  const all = [...near, ...far.hits];
  const hits = all.slice(0, MOST);
  const mayBeMore = all.length > MOST || (far.isCut && far.text !== '');
  const isCounted = near.length < MOST_COUNTED && !far.isCut;
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
              <ShardMark shard={hit.shard} /><span class="muted">{hit.what}</span> <b>{hit.name}</b> <span class="muted more">{hit.more}</span>
            </li>
          ))}
          {mayBeMore && <li role="option" aria-selected={false} aria-disabled class="muted">{isCounted && `${all.length - MOST} `}more: type on</li>}
          {!hits.length && !mayBeMore && <li role="option" aria-selected={false} class="muted">{picture.map ? 'No match' : 'Loading …'}</li>}
          {far.missing.map((shard) => <li key={shard} role="option" aria-selected={false} aria-disabled class="muted">shard {whyMissing(shard)}</li>)}
        </ul>
      )}
    </div>
  );
}
