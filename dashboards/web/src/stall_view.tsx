// SPDX-License-Identifier: Apache-2.0
// A heat map of a whole fabric: a row for each switch, the worst first, and in it how long its worst port waited to send.

import {useMemo, useState} from 'preact/hooks';
import {endOf, stepOf, timesOf, useStallMap, type Span, type StallMap, type StallRow, type Values} from './history';
import {SpanChoice} from './history_view';
import {ownShard, shardShown, useLive, useMapOf} from './live';
import {Strip, StripShades} from './port_rows';
import {toNode, toPort, toStall} from './route';
import {share} from './units';
import {clock, grouped, seconds} from './words';

const ROWS = [64, 250, 1000];

/** Names that several rows have. */
const sharedOf = ({rows}: StallMap) => new Set(rows.map(({node}) => node).filter((name, at, all) => all.indexOf(name) !== at));

/** The name of its switch, with the GUID where another row has the same. */
const nameOf = (shared: Set<string>, {node, nodeGuid}: StallRow) => (shared.has(node) ? `${node} (${nodeGuid})` : node);

function valuesOf(map: StallMap, row: StallRow): Values {
  const values: Values = new Array(map.buckets).fill(null);
  row.bucket.forEach((bucket, index) => { values[bucket] = row.bucketShare[index]; });
  return values;
}

/** Where the pointer is. */
interface Spot {
  guid: string;
  /** From the left, 0 to 1. */
  along: number;
}

function describe(map: StallMap, shared: Set<string>, {guid, along}: Spot): string {
  const row = map.rows.find((each) => each.nodeGuid === guid);
  if (!row) return '';
  const bucket = Math.max(0, Math.min(map.buckets - 1, Math.floor(along * map.buckets)));
  const begin = timesOf(map)[bucket] - stepOf(map) / 2;
  const [from, to] = [begin, begin + stepOf(map)].map((each) => clock(new Date(each * 1000).toISOString()));
  const value = valuesOf(map, row)[bucket];
  return `${nameOf(shared, row)}, ${from} – ${to}: ${value === null ? 'not read' : share(value)}`;
}

function Rows({map, span}: {map: StallMap; span: Span}) {
  const [spot, setSpot] = useState<Spot>();
  const shared = useMemo(() => sharedOf(map), [map]);
  const point = (event: PointerEvent, row: StallRow) => {
    const {left, width} = (event.currentTarget as Element).getBoundingClientRect();
    setSpot({guid: row.nodeGuid, along: (event.clientX - left) / width});
  };
  return (
    <>
      <p class="spot muted">{spot ? describe(map, shared, spot) : 'Of each switch, the port that waited most at the time. Point at a column to read it.'}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Stall of each switch">
        <table class="rows heat">
          <thead><tr><th scope="col">Switch</th>
            <th scope="col"><span class="ends"><span>{clock(map.from)}</span><span>{clock(endOf(map))}</span></span></th>
            <th scope="col" class="figure">Mean</th><th scope="col" class="figure">Worst port</th></tr></thead>
          <tbody>
            {map.rows.map((row) => (
              <tr key={row.nodeGuid}>
                <th scope="row"><a href={toNode(row.nodeGuid, span)}>{nameOf(shared, row)}</a></th>
                <td class="drawn">
                  <a href={toNode(row.nodeGuid, span)} tabIndex={-1} aria-hidden="true" onPointerMove={(event) => point(event, row)} onPointerLeave={() => setSpot(undefined)}>
                    <Strip values={valuesOf(map, row)} />
                  </a>
                </td>
                <td class={`figure ${row.share ? '' : 'muted'}`}>{share(row.share)}</td>
                <td class="figure">{row.worstPort ? <a href={toPort(row.nodeGuid, row.worstPort, span)}>{row.worstPort}</a> : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Heat({fabric, span}: {fabric: string; span: Span}) {
  const [rows, setRows] = useState(ROWS[0]);
  const {value: map, error} = useStallMap(fabric, span, rows);
  if (!map) return <p class="muted waiting" role="status">{error ? (error.status === 404 ? 'Nothing is stored yet.' : error.message) : 'Loading …'}</p>;
  if (!map.rows.length) return <p class="muted">Nothing was read in this time.</p>;
  const more = ROWS.find((each) => each > rows);
  return (
    <>
      <Rows map={map} span={span} />
      <ul class="legend rows-legend" aria-label="Legend"><StripShades /></ul>
      <p class="muted">
        {map.rows.length < map.switches ? `The worst ${grouped(String(map.rows.length))} of ${grouped(String(map.switches))} switches. ` : ''}
        Each column is {seconds(stepOf(map)).replace(' 0 min', '')}{map.readEvery > 1 ? `; the fabric is large, and one of ${map.readEvery} readings is shown` : ''}.
      </p>
      {map.rows.length < map.switches && more && <p class="actions"><button type="button" onClick={() => setRows(more)}>Show up to {grouped(String(more))}</button></p>}
    </>
  );
}

/** Fabrics of the shard that is shown. */
function useFabrics(): {fabrics: string[]; why: string} {
  const {map} = useLive();
  const other = shardShown() === ownShard() ? '' : shardShown();
  const {value, error} = useMapOf(other);
  const known = other ? value?.map : map;
  return {fabrics: (known ?? []).map((each) => each.fabric), why: error ? `Not shown: ${error.message}` : known ? 'No fabric is monitored yet.' : 'Loading …'};
}

export function StallView({span}: {span: Span}) {
  const {fabrics, why} = useFabrics();
  const [chosen, setChosen] = useState('');
  const fabric = fabrics.includes(chosen) ? chosen : fabrics[0];
  return (
    <>
      {fabrics.length > 1 && (
        <label class="choose">Fabric{' '}
          <select value={fabric} onChange={(event) => setChosen(event.currentTarget.value)}>{fabrics.map((each) => <option key={each}>{each}</option>)}</select>
        </label>
      )}
      <SpanChoice span={span} href={toStall} />
      {fabric ? <Heat key={fabric} fabric={fabric} span={span} /> : <p class="muted">{why}</p>}
    </>
  );
}
