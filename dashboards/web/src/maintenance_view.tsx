// SPDX-License-Identifier: Apache-2.0
// Maintenance windows: what is planned, and, for those who may, a new one and the end of one.

import {get} from './api';
import {useLive, usePolled} from './live';
import {useOrder} from './order';
import {EntityLink, Nothing, SHARD, ShardCell, Sheet} from './parts';
import type {MaintenanceWindow} from './types';
import {clock, plain} from './words';

const LENGTHS = [{name: '1 h', seconds: 3600}, {name: '4 h', seconds: 4 * 3600}, {name: '12 h', seconds: 12 * 3600}, {name: '3 d', seconds: 3 * 86_400}];

function Add({what}: {what: string}) {
  const {trouble, order} = useOrder();
  const send = async (form: HTMLFormElement) => {
    const given = new FormData(form);
    const text = (name: string) => String(given.get(name) ?? '').trim();
    if (await order('/api/v1/maintenance', {what: text('what'), length: `${text('length')}s`, reason: text('reason')})) form.reset();
  };
  return (
    <>
      <form class="filter" aria-label="New maintenance window" onSubmit={(event) => { event.preventDefault(); void send(event.currentTarget); }}>
        <label>Host, switch, port or link <input name="what" required autoComplete="off" defaultValue={what} /></label>
        <label>Reason <input name="reason" required maxLength={1000} autoComplete="off" /></label>
        <label>From now for <select name="length">{LENGTHS.map((each) => <option key={each.name} value={each.seconds}>{each.name}</option>)}</select></label>
        <button type="submit">Begin maintenance</button>
      </form>
      {trouble && <p class="trouble" role="alert">{trouble}</p>}
    </>
  );
}

function Windows({windows, mayEnd}: {windows: MaintenanceWindow[]; mayEnd: boolean}) {
  const {trouble, order} = useOrder();
  const head = ['Window', SHARD, 'State', 'What', 'From', 'Until', 'Reason', 'By'];
  return (
    <>
      {trouble && <p class="trouble" role="alert">{trouble}</p>}
      <Sheet head={mayEnd ? [...head, 'Change'] : head}>
        {[...windows].reverse().map((each) => (
          <tr key={each.id}>
            <th scope="row">{each.id}</th>
            <ShardCell shard={each.shard} />
            <td>{plain(each.state)}</td>
            <td><EntityLink entity={each.entity} /></td>
            <td>{clock(each.from)}</td>
            <td>{clock(each.ended ?? each.until)}</td>
            <td>{each.reason}</td>
            <td>{each.addedBy}</td>
            {mayEnd && (
              <td>{each.state !== 'OVER' && <button type="button" aria-label={`End ${each.id}`} onClick={() => order(`/api/v1/maintenance/${each.id}/end`, {})}>End</button>}</td>
            )}
          </tr>
        ))}
      </Sheet>
    </>
  );
}

/** `what`: for which a window is to be begun, as far as it is known. */
export function Maintenance({what}: {what: string}) {
  const {role} = useLive();
  const {value, error} = usePolled<MaintenanceWindow[]>('maintenance', 10_000, async () =>
    (await get<{windows: MaintenanceWindow[]}>('/api/v1/maintenance?state=all')).windows);
  if (error) return <p class="trouble">{error.message}</p>;
  if (!value) return <p class="muted">Loading …</p>;
  return (
    <>
      {role !== 'viewer' && <Add key={what} what={what} />}
      {value.length ? <Windows windows={value} mayEnd={role !== 'viewer'} /> : <Nothing what="No maintenance windows" />}
    </>
  );
}
