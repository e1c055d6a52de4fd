// SPDX-License-Identifier: Apache-2.0
// Small pieces that several views share.

import type {ComponentChildren} from 'preact';
import {around, USUAL, type Span} from './history';
import {hostOf, isSite, useLive} from './live';
import {toHost, toNode, toPort} from './route';
import type {Entity, Severity} from './types';
import {plain} from './words';

export function SeverityMark({severity}: {severity: Severity}) {
  return <span class={`mark ${severity.toLowerCase()}`}>{plain(severity)}</span>;
}

export function StateMark({word, good, bad}: {word: string; good?: boolean; bad?: boolean}) {
  return <span class={`mark ${good ? 'good' : bad ? 'critical' : 'neutral'}`}>{plain(word)}</span>;
}

/** Of which shard a thing of a list is; nothing where there are not several. */
export function ShardMark({shard}: {shard?: string}) {
  return shard && isSite() ? <><span class="mark neutral">{shard}</span>{' '}</> : null;
}

/** The same in a table, below the heading SHARD. */
export function ShardCell({shard}: {shard?: string}) {
  return isSite() ? <td>{shard || '–'}</td> : null;
}

/** "No open plans": of shards that do not answer nobody knows. */
export function Nothing({what, good}: {what: string; good?: boolean}) {
  const {missing} = useLive();
  return missing.length ? <p class="muted">{what} in the shards that answer.</p> : <p class={good ? 'quiet' : 'muted'}>{what}.</p>;
}

/** A port or the cable at it, by the key that the map has. */
export const isPort = ({kind, nodeGuid}: Entity) => nodeGuid !== '' && (kind === 'LINK' || kind === 'PORT');

/** The host that is meant as a whole, by its name; empty for a switch, and for one of several adapters. */
export function wholeHost({host, nodeGuid, label}: Entity): string {
  if (!nodeGuid) return host;
  return hostOf(nodeGuid) === label ? label : '';
}

/** Where the charts of the thing are, at that time; empty where there are none. */
export function chartsOf(entity: Entity, span: Span = USUAL): string {
  if (isPort(entity)) return toPort(entity.nodeGuid, entity.port, span);
  const host = wholeHost(entity);
  if (host) return toHost(host, span);
  return entity.nodeGuid && toNode(entity.nodeGuid, span);
}

/** What an incident or plan speaks of, as a link to where it is shown. */
export function EntityLink({entity}: {entity?: Entity}) {
  if (!entity) return <>–</>;
  const name = entity.label || entity.host || entity.fabric;
  const aim = chartsOf(entity);
  return aim ? <a href={aim}>{name}</a> : <>{name}</>;
}

/** To the charts of what an incident or plan speaks of, at its time. */
export function HistoryLink({entity, from, to, name = 'Charts of that time'}: {entity?: Entity; from?: string; to?: string; name?: string}) {
  const aim = entity && from && chartsOf(entity, around(from, to));
  return aim ? <a href={aim} title={entity.label}>{name}</a> : null;
}

export function Facts({children}: {children: ComponentChildren}) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({name, children}: {name: string; children: ComponentChildren}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Arrow keys, Home and End go from one focusable entry of the list to the next. */
export function walkList(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const entries = [...list.querySelectorAll<HTMLElement>('a.entry')];
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const aims: Record<string, number> = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1};
  const aim = aims[event.key];
  if (aim === undefined || at < 0) return;
  event.preventDefault();
  entries[Math.max(0, Math.min(entries.length - 1, aim))].focus();
}

/** The heading of a column of shards, which a Sheet has in a site of several. */
export const SHARD = 'Shard';

/** A table that is moved sideways where it is too wide. On a phone a row of one that is `stacked` takes several lines instead. */
export function Sheet({head, stacked, children}: {head: string[]; stacked?: boolean; children: ComponentChildren}) {
  return (
    <div class="scroll" tabIndex={0}>
      <table class={stacked ? 'stacked' : ''}>
        <thead><tr>{head.filter((each) => each !== SHARD || isSite()).map((each) => <th key={each} scope="col">{each}</th>)}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
