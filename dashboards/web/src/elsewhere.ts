// SPDX-License-Identifier: Apache-2.0
// What the search finds beyond the own map: jobs, and what other shards of the site watch.

import {useEffect, useState} from 'preact/hooks';
import {get} from './api';
import {ownShard, useLive} from './live';
import {toHost, toNode, toPort} from './route';
import type {Collector, Link, Node, PortReference} from './types';
import {adaptersText, portName} from './words';

export interface Hit {
  href: string;
  what: string;
  name: string;
  more: string;
  /** That it is of, and that is then drawn. */
  shard?: string;
}

/** Shown at once. */
export const MOST = 12;
const TYPING_MS = 250;
/** A page has entries of three shards. */
const MOST_PAGES = 8;

/** "leaf-1 port 12" and "leaf-1:12" are a port: the words of its node and its number. Of other texts: their words. Lower-case. */
export function readText(text: string): {words: string[]; port?: number} {
  const asked = text.trim().toLowerCase();
  const [, before, digits] = /^(.*?)(?:\s+port\s+|\s*:\s*)(\d+)$/.exec(asked) ?? [, asked, ''];
  return {words: before.split(/\s+/).filter(Boolean), port: digits ? Number(digits) : undefined};
}

/** A port, or two names, which are the cables between them. */
export const isCable = ({words, port}: {words: string[]; port?: number}) => words.length > (port === undefined ? 1 : 0);

/** Hits, and the shards that did not answer. */
interface Elsewhere {
  text: string;
  hits: Hit[];
  missing: string[];
  /** There may be more hits that were not read. */
  isCut: boolean;
}

/** While nothing has answered yet, nobody knows what there is. */
const NOT_YET: Elsewhere = {text: '', hits: [], missing: [], isCut: true};
const NOTHING: Elsewhere = {...NOT_YET, isCut: false};

interface Page {
  nextPageToken: string;
  missingShards: string[];
}

/** Pages of a list with what contains the text, until `take` has enough of them. */
async function readPages<T extends Page>(list: string, text: string, take: (page: T) => boolean): Promise<Pick<Elsewhere, 'missing' | 'isCut'>> {
  const missing: string[] = [];
  let token = '';
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await get<T>(`/api/v1/${list}?contains=${encodeURIComponent(text)}&page_size=${MOST * 3}&page_token=${encodeURIComponent(token)}`);
    missing.push(...answer.missingShards);
    token = answer.nextPageToken;
    if (take(answer) || !token) break;
  }
  return {missing, isCut: token !== ''};
}

/** A host whose name fits is one hit, unless its one adapter is called like it; what else fits is found by itself. */
function nodeHits(nodes: Node[], text: string, isWhole: boolean): Hit[] {
  const groups = new Map<string, {isOfHost: boolean; nodes: Node[]}>();
  for (const node of nodes) {
    const isOfHost = node.type !== 'SWITCH' && node.host.toLowerCase().includes(text.toLowerCase());
    const key = JSON.stringify([node.shard, isOfHost ? node.host : [node.fabric, node.guid]]);
    groups.set(key, {isOfHost, nodes: [...(groups.get(key)?.nodes ?? []), node]});
  }
  return [...groups.values()].map(({isOfHost, nodes: [{guid, name, host, type, shard}, ...others]}) => {
    const known = isWhole ? adaptersText(others.length + 1) : others.length ? 'several adapters' : '';
    return isOfHost && (others.length || host !== name)
      ? {href: toHost(host), what: 'host', name: host, more: known, shard}
      : {href: toNode(guid), what: type === 'SWITCH' ? 'switch' : 'adapter', name, more: guid, shard};
  });
}

async function findNodes(text: string): Promise<Elsewhere> {
  const nodes: Node[] = [];
  let hits: Hit[] = [];
  const read = await readPages<Page & {nodes: Node[]}>('nodes', text, (page) => {
    nodes.push(...page.nodes.filter((node) => node.shard !== ownShard() && !node.aggregationNode)); // the own ones are in the map
    hits = nodeHits(nodes, text, !page.nextPageToken);
    return hits.length >= MOST;
  });
  return {text, hits, ...read};
}

/** The end that was asked for comes first. weftd chose the link; where both ends have the number, the name tells which. */
function linkHit(link: Link, text: string): Hit[] {
  const {words, port} = readText(text);
  const {a, b, shard} = link;
  if (!a) return [];
  const hit = (end: PortReference, far?: PortReference): Hit => ({
    href: toPort(end.nodeGuid, end.port), what: port === undefined ? 'cable' : 'port', name: portName(end),
    more: far ? `${port === undefined ? 'to' : 'leads to'} ${portName(far)}` : '', shard,
  });
  const isNamed = (end: PortReference) => words.every((word) => `${end.node} ${end.nodeGuid}`.toLowerCase().includes(word));
  if (port === undefined || !b || b.port !== port) return [hit(a, b)];
  if (a.port !== port) return [hit(b, a)];
  const ends: [PortReference, PortReference][] = [[a, b], [b, a]];
  const named = ends.filter(([end]) => isNamed(end));
  return (named.length ? named : ends).map(([end, far]) => hit(end, far));
}

async function findLinks(text: string): Promise<Elsewhere> {
  const hits: Hit[] = [];
  if (!isCable(readText(text))) return NOTHING;
  const read = await readPages<Page & {links: Link[]}>('links', text, (page) => {
    for (const link of page.links) if (link.shard !== ownShard()) hits.push(...linkHit(link, text));
    return hits.length >= MOST;
  });
  return {text, hits, ...read};
}

/** The hosts that the job holds, as far as their collectors tell. */
async function findJob(job: string): Promise<Elsewhere> {
  const {collectors, missingShards, nextPageToken} = await get<Page & {collectors: Collector[]}>(
    `/api/v1/collectors?job=${encodeURIComponent(job)}&page_size=${MOST}`);
  const hits = collectors.map((each) => {
    const name = each.jobs.find((one) => one === job || one.endsWith(`:${job}`)) ?? job;
    return {href: toHost(each.host), what: 'job', name, more: `holds ${each.host}`, shard: each.shard};
  });
  return {text: job, hits, missing: missingShards, isCut: nextPageToken !== ''};
}

/** Asked when nobody typed for a moment: of jobs, and of nodes, ports and cables where weftd is one of several. */
export function useElsewhere(text: string, open: boolean): Elsewhere {
  const {shards} = useLive();
  const [found, setFound] = useState(NOT_YET);
  const asked = open ? text.trim() : '';
  const several = shards.length > 1;
  const isAsked = asked !== '' && (several || !/\s/.test(asked));
  useEffect(() => {
    if (!isAsked) return undefined;
    let wanted = true;
    const timer = setTimeout(async () => {
      try {
        const jobs = /\s/.test(asked) ? NOTHING : await findJob(asked);
        const all = [jobs, ...(several ? await Promise.all([findLinks(asked), findNodes(asked)]) : [])];
        const missing = [...new Set(all.flatMap((each) => each.missing))];
        if (wanted) setFound({text: asked, hits: all.flatMap((each) => each.hits), missing, isCut: all.some((each) => each.isCut)});
      } catch {
        // What is lost or not allowed as a whole, the page says.
      }
    }, TYPING_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [asked, several]);
  return !isAsked ? NOTHING : found.text === asked ? found : NOT_YET;
}
