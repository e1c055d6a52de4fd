// SPDX-License-Identifier: Apache-2.0
// What the fabric carries, beside the map: it says something also when all is well.

import {shareAt} from './colours';
import {endA, endB, endName, portOf, type Graph} from './graph';
import {toPort} from './route';
import type {FabricState} from './types';
import {grouped} from './words';

interface BusyCable {
  guid: string;
  port: number;
  name: string;
  /** Of the active rate, in the busier direction, 0 to 1. */
  share: number;
}

export interface Busiest {
  /** Over all cables of which it is known. */
  mean: number;
  known: number;
  /** The busiest first; none that carries nothing worth a mention. */
  cables: BusyCable[];
}

export const NOTHING_BUSY: Busiest = {mean: 0, known: 0, cables: []};

const MOST = 5;
/** Of the rate. */
const WORTH = 0.02;

/** Of a map and a state of the same shape. */
export function busiestOf(graph: Graph, {shape, traffic = ''}: FabricState): Busiest {
  if (shape !== graph.map.shape) return NOTHING_BUSY;
  let [sum, known] = [0, 0];
  const top: {link: number; share: number}[] = [];
  for (let link = 0; link < graph.links; link++) {
    const share = shareAt(traffic, link);
    if (share < 0) continue;
    sum += share;
    known++;
    if (share < WORTH || (top.length === MOST && share <= top[MOST - 1].share)) continue;
    top.push({link, share});
    top.sort((one, other) => other.share - one.share).splice(MOST);
  }
  return {mean: known ? sum / known : 0, known, cables: top.map(({link, share}) => {
    const [a, b] = [endA(graph, link), endB(graph, link)];
    return {guid: graph.map.guids[a], port: portOf(graph, link, a), name: `${endName(graph, link, a)} – ${endName(graph, link, b)}`, share};
  })};
}

/** The map's digits are no finer. */
const whole = (share: number) => (share < 0.01 ? 'under 1 %' : `${Math.round(share * 100)} %`);

export function BusiestCables({mean, known, cables}: Busiest) {
  if (!known) return null;
  return (
    <section class="row-list busiest" aria-labelledby="busiest">
      <h2 id="busiest">Traffic</h2>
      <p class="muted">{grouped(String(known))} cables carry {whole(mean)} of their rate on average.</p>
      {cables.length > 0 && (
        <ul>
          {cables.map((each) => (
            <li key={`${each.guid}/${each.port}`}><a href={toPort(each.guid, each.port)}><b>{whole(each.share)}</b> {each.name}</a></li>
          ))}
        </ul>
      )}
    </section>
  );
}
