// SPDX-License-Identifier: Apache-2.0
// Cables, modules, hosts and switches by the harm that their incidents did over a time, the worst first.

import {useState} from 'preact/hooks';
import {get, weftdNow} from './api';
import {useLive, usePolled} from './live';
import {EntityLink, Nothing, SHARD, ShardCell, Sheet} from './parts';
import {toIncident} from './route';
import type {ModuleIdentity, Worst, WorstThing} from './types';
import {clock, grouped, kindName, seconds} from './words';

const THINGS: Record<string, string> = {cables: 'Cable', modules: 'Module at', hosts: 'Host', switches: 'Switch'};
const ORDERS: Record<string, string> = {harm: 'harm', jobs: 'jobs hurt', critical: 'time in critical', times: 'times it began'};
const TIMES = [{name: '24 h', hours: 24}, {name: '7 d', hours: 168}, {name: '30 d', hours: 720}];

/** Of protobuf's JSON: "5400s". */
const length = (duration?: string) => (duration && parseFloat(duration) > 0 ? seconds(parseFloat(duration)) : '–');

function hours(value: number): string {
  if (value < 0.1) return '< 0.1';
  return value < 10 ? value.toFixed(1) : grouped(value.toFixed(0));
}

/** "NVIDIA MMA4Z00-NS, serial number MT2318FT00042" */
function moduleName(module?: ModuleIdentity): string {
  const make = [module?.vendor, module?.partNumber].filter(Boolean).join(' ');
  return [make, module?.serialNumber && `serial number ${module.serialNumber}`].filter(Boolean).join(', ') || 'not told';
}

function Incidents({of}: {of: WorstThing}) {
  const more = of.incidents - of.incidentIds.length;
  return (
    <>
      {of.incidentIds.map((id, index) => <span key={id}>{index > 0 && ', '}<a href={toIncident(id)}>{id}</a></span>)}
      {more > 0 && ` and ${more} more`}{of.isOpen && ' (open)'}
    </>
  );
}

function Choice({name, value, options, choose}: {name: string; value: string; options: Record<string, string>; choose: (key: string) => void}) {
  return (
    <label class="choose">{name}{' '}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {Object.entries(options).map(([key, text]) => <option key={key} value={key}>{text}</option>)}
      </select>
    </label>
  );
}

export function Harm() {
  useLive(); // of how many shards the site is
  const [of, setOf] = useState('cables');
  const [by, setBy] = useState('harm');
  const [last, setLast] = useState('168');
  const path = `/api/v1/worst?of=${of}&by=${by}&limit=50`;
  const {value, error} = usePolled<Worst>(`${path}&last=${last}`, 30_000, () =>
    get<Worst>(`${path}&from=${Math.floor(weftdNow() / 1000) - Number(last) * 3600}`));
  const modules = of === 'modules';
  return (
    <>
      <div class="actions">
        <Choice name="Of" value={of} options={{cables: 'cables', modules: 'modules', hosts: 'hosts', switches: 'switches'}} choose={setOf} />
        <Choice name="by" value={by} options={ORDERS} choose={setBy} />
        <Choice name="in the last" value={last} options={Object.fromEntries(TIMES.map((each) => [each.hours, each.name]))} choose={setLast} />
      </div>
      <p class="muted measure">
        Harm: an hour for each hour in which an incident was open, and one for each job that it hurt. Info and maintenance do not count.
        {modules && ' A module is the one that is at the port now: what one before it did counts for it, too.'}
      </p>
      {error && <p class="trouble">{error.message}</p>}
      {value && !value.things.length && <Nothing what={`No harm by ${of}`} good />}
      {value && value.things.length > 0 && (
        <Sheet head={['Harm', SHARD, THINGS[of], ...(modules ? ['Module'] : []), 'Trouble', 'Critical', 'Jobs', 'Times', 'Kinds', 'Incidents']}>
          {value.things.map((each) => (
            <tr key={`${each.shard}/${each.what?.identity}`}>
              <td>{hours(each.harmHours)} h</td>
              <ShardCell shard={each.shard} />
              <td><EntityLink entity={each.what} /></td>
              {modules && <td>{moduleName(each.module)}</td>}
              <td>{length(each.trouble)}</td>
              <td>{length(each.critical)}</td>
              <td>{each.jobs}</td>
              <td>{each.times}</td>
              <td>{each.kinds.map(kindName).join(', ')}</td>
              <td><Incidents of={each} /></td>
            </tr>
          ))}
        </Sheet>
      )}
      {value?.completeFrom && <p class="muted">Incidents that ended before {clock(value.completeFrom)} are not kept: the time before it is incomplete.</p>}
      {value && value.elsewhere > 0 && (
        <p class="muted">{value.elsewhere === 1 ? '1 incident' : `${value.elsewhere} incidents`} of that time had another cause, or none of {of} is known there.</p>
      )}
    </>
  );
}
