// SPDX-License-Identifier: Apache-2.0
// What the page knows and how old it is. One question at a time, at most one a second; long answers are asked for less
// often. A hidden page asks every ten seconds.

import {useEffect, useRef, useState} from 'preact/hooks';
import {Failure, get, setToken, token} from './api';
import type {FabricMap, Incident, MapState, Plan, Remedy, Role, Shard} from './types';

export interface Picture {
  map?: FabricMap[];
  state?: MapState;
  incidents?: Incident[];
  plans?: Plan[];
  remedy?: Remedy;
  /** Of the site; none where weftd is on its own. */
  shards: Shard[];
  /** The shard whose fabrics are drawn; empty: this weftd's own. */
  shard: string;
  /** Shards that did not answer the last question for incidents: the strip, the notices and the lists say by this who is silent. */
  missing: string[];
  name: string;
  role: Role;
  /** Why there is nothing to see: a token is wanted, or the one given is not good enough. */
  refused: string;
  /** When the last answer came, in milliseconds of performance.now(). */
  heardAt: number;
  /** The last question had no answer. */
  lost: boolean;
  /** The leader changed while the page was open: who leads now, and when that was heard, in milliseconds since 1970. */
  succession?: {leader: string; at: number};
}

export const picture: Picture = {shards: [], shard: '', missing: [], name: '', role: 'viewer', refused: '', heardAt: 0, lost: false};

const listeners = new Set<() => void>();

export function changed(): void {
  for (const listener of [...listeners]) listener();
}

/** This weftd's; empty where it is no part of a site. */
export function ownShard(): string {
  return picture.shards.find((each) => each.own)?.name ?? '';
}

/** There are several shards: what is listed says of which one it is. */
export function isSite(): boolean {
  return picture.shards.length > 1;
}

/** Why an answer about nodes has nothing of that shard: it is silent, refuses, or has not swept its fabrics yet. */
export function whyMissing(shard: string): string {
  const trouble = picture.shards.find(({name}) => name === shard)?.trouble;
  if (trouble?.startsWith('it does not answer ')) return `${shard} is missing: ${trouble}`;
  return `${shard} ${picture.missing.includes(shard) ? 'does not answer' : 'has not swept yet'}`;
}

/** The shard that is drawn. */
export function shardShown(): string {
  return picture.shard || ownShard();
}

/** Draws the fabrics of that shard. */
export function showShard(name: string): void {
  if (name === shardShown()) return;
  picture.shard = name;
  changed();
}

/** A fabric of this weftd has a node of that GUID. */
export function isOnMap(guid: string): boolean {
  return (picture.map ?? []).some(({guids}) => guids.includes(guid));
}

/** The host of an adapter, as far as the map has it. */
export function hostOf(guid: string): string {
  for (const {guids, hosts, types} of picture.map ?? []) {
    const at = guid ? guids.indexOf(guid) : -1;
    if (at >= 0 && types[at] === 'C') return hosts[at];
  }
  return '';
}

/** Draws the component anew whenever something was heard. */
export function useLive(): Picture {
  const [, draw] = useState(0);
  useEffect(() => {
    const listener = () => draw((count) => count + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return picture;
}

interface Task {
  every: number;
  due: number;
  run: () => Promise<void>;
}

const TICK_MS = 1000;
const HIDDEN_MS = 10_000;
/** At most this share of the time is spent on asking the same thing. */
const SHARE = 0.1;

const tasks: Task[] = [];

function task(every: number, run: () => Promise<void>): Task {
  const added = {every, due: 0, run};
  tasks.push(added);
  return added;
}

/** The map has all that the state speaks of. */
function isKnown(map: FabricMap[] | undefined, state: MapState): map is FabricMap[] {
  return !!map && state.fabrics.every((fabric) =>
    !fabric.shape || map.some((each) => each.fabric === fabric.fabric && each.shape === fabric.shape));
}

async function readMap(): Promise<void> {
  picture.map = (await get<{fabrics: FabricMap[]}>('/api/v1/map')).fabrics;
}

task(3000, async () => {
  const state = await get<MapState>('/api/v1/map/state');
  if (!isKnown(picture.map, state)) await readMap();
  const before = picture.state?.epoch;
  if (before !== undefined && state.epoch !== undefined && before !== state.epoch)
    picture.succession = {leader: state.leader ?? '', at: Date.now()};
  picture.state = state;
});

task(12_000, async () => {
  picture.shards = (await get<{shards: Shard[]}>('/api/v1/status')).shards;
});

task(2000, async () => {
  const answer = await get<{incidents: Incident[]; missingShards?: string[]}>('/api/v1/incidents?state=open');
  const missing = answer.missingShards ?? [];
  const before = picture.missing.join();
  picture.incidents = answer.incidents;
  picture.missing = missing;
  // A shard fell silent or answers again: other lists show what it owns no longer, or again.
  if (missing.join() !== before) refresh();
});

task(6000, async () => {
  picture.plans = (await get<{plans: Plan[]}>('/api/v1/plans')).plans;
});

task(12_000, async () => {
  picture.remedy = await get<Remedy>('/api/v1/remedy');
});

task(60_000, async () => {
  try {
    const who = await get<{name: string; role: string}>('/api/v1/whoami');
    const role = who.role.toLowerCase();
    picture.name = who.name;
    picture.role = role === 'admin' || role === 'operator' ? role : 'viewer';
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 404) throw error;
    picture.role = 'viewer'; // this weftd does not tell: nothing may be changed
  }
});

let timer = 0;
let asking = false;
/** Counts the calls of refresh(): what was under way then is due again all the same. */
let refreshed = 0;

async function tick(): Promise<void> {
  if (asking) return;
  asking = true;
  const now = performance.now();
  const next = tasks.filter((each) => each.due <= now).sort((a, b) => a.due - b.due)[0];
  const given = token();
  const before = refreshed;
  if (next) {
    try {
      await next.run();
      picture.lost = false;
      picture.refused = '';
      picture.heardAt = performance.now();
    } catch (error) {
      const status = error instanceof Failure ? error.status : 0;
      // An error is an answer too, but no news.
      picture.lost = status === 0 || status >= 500;
      // Of a token that was replaced meanwhile the answer is of no interest.
      if (status === 401 && given === token())
        picture.refused = 'Authentication required.' + (given ? ' The token is not valid.' : '');
      if (status === 403 && given === token()) picture.refused = `Permission denied: ${(error as Failure).message}.`;
    }
    const took = performance.now() - now;
    if (before === refreshed) next.due = performance.now() + Math.max(next.every, took / SHARE);
    changed();
  }
  asking = false;
  const soon = tasks.some((each) => each.due === 0) && !picture.lost;
  plan(document.hidden ? HIDDEN_MS : soon ? 0 : TICK_MS);
}

function plan(wait: number): void {
  clearTimeout(timer);
  timer = window.setTimeout(tick, wait);
}

export function begin(): void {
  document.addEventListener('visibilitychange', () => document.hidden || plan(0));
  // The age of what is shown grows while nobody answers.
  setInterval(() => picture.lost && changed(), 1000);
  plan(0);
}

/** Asks everything anew, soon. */
export function refresh(): void {
  ++refreshed;
  for (const each of tasks) each.due = 0;
  plan(0);
}

/** Stays in the refused state until a request succeeds: the form must not vanish while somebody types. */
export function giveToken(text: string): void {
  setToken(text);
  refresh();
}

/**
 * Something that only the component shows, asked every so often for as long as it is shown. Without a question nothing is asked: a task that asks
 * nothing would count as an answer.
 */
export function usePolled<T>(key: string, every: number, ask: (() => Promise<T>) | false | undefined): {value?: T; error?: Failure} {
  const [answer, setAnswer] = useState<{key: string; value?: T; error?: Failure}>({key});
  useEffect(() => {
    if (!ask) return undefined;
    let shown = true;
    const added = task(every, async () => {
      try {
        const value = await ask();
        if (shown) setAnswer({key, value});
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // Without any answer what was read before stays, and a view that shows nothing yet says why.
        if (shown) setAnswer((before) => (error.status === 0 && before.key === key && before.value ? before : {key, error}));
        // Of this one thing: what is lost or not allowed as a whole, the others find out.
        if (!shown || error.status === 0) throw error;
      }
    });
    plan(0);
    return () => {
      shown = false;
      tasks.splice(tasks.indexOf(added), 1);
    };
  }, [key]);
  return answer.key === key ? answer : {};
}

/** What another shard draws: asked of this weftd, which asks that shard. An error when it does not answer. Of "" nothing is asked. */
export function useMapOf(shard: string): {value?: {map: FabricMap[]; state: MapState}; error?: Failure} {
  const map = useRef<FabricMap[]>();
  return usePolled(`map-${shard}`, 3000, shard !== '' && (async () => {
    const query = `?shard=${encodeURIComponent(shard)}`;
    const state = await get<MapState>(`/api/v1/map/state${query}`);
    let known = map.current;
    if (!isKnown(known, state)) known = (await get<{fabrics: FabricMap[]}>(`/api/v1/map${query}`)).fabrics;
    map.current = known;
    return {map: known, state};
  }));
}
