// SPDX-License-Identifier: Apache-2.0
// Numbers and names for people.

import {useEffect, useState} from 'preact/hooks';

import {weftdNow} from './api';

export function plain(word: string): string {
  const text = word.replace(/_/g, ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "LINK_DOWN" as "Link down"; the field's own abbreviations stay as they are. */
export function kindName(kind: string): string {
  return plain(kind).replace(/\b(pfc|rdma|guid)\b/gi, (word) => word.toUpperCase());
}

export function seconds(span: number): string {
  if (span < 0) return '0 s';
  if (span < 60) return `${Math.floor(span)} s`;
  if (span < 3600) return `${Math.floor(span / 60)} min`;
  if (span < 86_400) return `${Math.floor(span / 3600)} h ${Math.floor((span % 3600) / 60)} min`;
  return `${Math.floor(span / 86_400)} d ${Math.floor((span % 86_400) / 3600)} h`;
}

export function clock(stamp?: string): string {
  if (!stamp) return '–';
  const time = new Date(stamp);
  const today = new Date().toDateString() === time.toDateString();
  return today ? time.toLocaleTimeString(undefined, {hourCycle: 'h23'}) : time.toLocaleString(undefined, {hourCycle: 'h23'});
}

export function since(stamp: string | undefined, now = weftdNow()): string {
  return stamp ? seconds((now - Date.parse(stamp)) / 1000) : '–';
}

/** Draws the component anew, so that ages grow. */
export function useClock(every = 1000): number {
  const [now, setNow] = useState(weftdNow());
  useEffect(() => {
    const timer = setInterval(() => setNow(weftdNow()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** "leaf-1 port 12", on Ethernet "leaf01 swp12"; a host's interface is its node: "gpu-01 eth2". */
export function portName({node, port, name}: {node: string; port: number; name: string}): string {
  if (!name) return `${node} port ${port}`;
  return node.endsWith(` ${name}`) ? node : `${node} ${name}`;
}

/** What is at a host or switch, without its name: "mlx5_1" of "gpu-1 mlx5_1", "port 12" of "leaf-1 port 12". */
export const withoutPrefix = (name: string, owner: string) => (name.startsWith(`${owner} `) ? name.slice(owner.length + 1) : name);

/** "4X NDR", on Ethernet "400 Gbit/s"; nothing where nothing is known. */
export function linkWord({width, speed, rateBitsPerSecond}: {width: string; speed: string; rateBitsPerSecond: number}): string {
  return [width, speed].filter(Boolean).join(' ') || (rateBitsPerSecond ? bits(rateBitsPerSecond) : '');
}

export function bits(rate?: number): string {
  if (rate === undefined) return '–';
  if (rate === 0) return '0 bit/s';
  const step = Math.min(4, Math.max(0, Math.floor(Math.log10(rate) / 3)));
  const value = rate / 1000 ** step;
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${['', 'k', 'M', 'G', 'T'][step]}bit/s`;
}

export function percent(ratio?: number): string {
  if (ratio === undefined) return '–';
  return `${(ratio * 100).toFixed(ratio < 0.1 ? 1 : 0)} %`;
}

export function errorRate(rate?: number): string {
  if (rate === undefined) return '–';
  return rate === 0 ? '0' : rate.toExponential(1);
}

export function grouped(value: string): string {
  return value.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

export const adaptersText = (count: number) => `${count} ${count === 1 ? 'adapter' : 'adapters'}`;

/** Names in the order that people count in: gpu-2 before gpu-10. */
export const byName = new Intl.Collator('en', {numeric: true}).compare;
