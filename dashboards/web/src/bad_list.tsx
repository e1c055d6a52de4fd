// SPDX-License-Identifier: Apache-2.0
// What the map draws as bad, as a list beside it: whoever cannot tell colours apart, or has no pointer, finds it here.

import {useState} from 'preact/hooks';
import {badText, type BadList, type BadRow} from './bad_nodes';
import {SHADES, type Mode} from './colours';
import {toHost, toNode, toPort} from './route';
import {grouped} from './words';

const TITLES: Record<Mode, string> = {state: 'Not well', traffic: 'Busiest', stall: 'Most stalled', errors: 'Most errors'};
/** Rows before the list is unfolded; a phone shows the map soon after. */
const FEW = matchMedia('(max-width: 60rem)').matches ? 3 : 12;

function Row({row, mode}: {row: BadRow; mode: Mode}) {
  const {style} = SHADES[mode][row.shade];
  const aim = row.port >= 0 ? toPort(row.guid, row.port) : row.host ? toHost(row.host) : toNode(row.guid);
  return (
    <li>
      <a href={aim}>
        <span class={`swatch ${style.slice(2)}`} /><b>{row.name}</b>{' '}
        <span class="muted">{badText(row, mode)}</span>
      </a>
    </li>
  );
}

export function BadNodes({mode, rows, total}: BadList) {
  const [all, setAll] = useState(false);
  if (!total) return null;
  const shown = all ? rows : rows.slice(0, FEW);
  return (
    <section class="row-list bad-nodes" aria-labelledby="bad-nodes">
      <h2 id="bad-nodes">{TITLES[mode]} <span class="count">{grouped(String(total))}</span></h2>
      <ul>{shown.map((row) => <Row key={row.host || `${row.guid}/${row.port}`} row={row} mode={mode} />)}</ul>
      {shown.length < rows.length && <button type="button" onClick={() => setAll(true)}>Show {rows.length < total ? 'the worst' : 'all'} {rows.length}</button>}
      {all && rows.length < total && <p class="muted">and {grouped(String(total - rows.length))} more</p>}
    </section>
  );
}
