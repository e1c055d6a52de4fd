// SPDX-License-Identifier: Apache-2.0
// Settings that differ among ports that should be set up alike, between the ends of a link, or from what the site wants.

import {useState} from 'preact/hooks';
import {get} from './api';
import {useLive, usePolled} from './live';
import {EntityLink, Nothing, SHARD, ShardCell, Sheet, StateMark} from './parts';
import type {Drift, DriftDifference, DriftSummary} from './types';
import {grouped, since, useClock} from './words';

const HOLDERS_AT_ONCE = 8;
const IS_INCIDENT = ['DIFFERS', 'ENDS_DIFFER', 'NOT_AS_EXPECTED'];

function Values({of}: {of: DriftDifference}) {
  return (
    <>
      {of.values.map(({value, count}, index) => (
        <div key={value}>{grouped(String(count))} × {value}{of.expected && index === 0 && ' (expected)'}</div>
      ))}
      {of.valuesLeftOut > 0 && <div>{grouped(String(of.valuesLeftOut))} × other values</div>}
    </>
  );
}

function Holders({of}: {of: DriftDifference}) {
  const [all, setAll] = useState(false);
  useClock();
  const shown = all ? of.holders : of.holders.slice(0, HOLDERS_AT_ONCE);
  if (!shown.length) return <>nobody is blamed</>;
  return (
    <>
      {shown.map((each) => (
        <div key={each.where?.identity}>
          <EntityLink entity={each.where} /> has {each.value}{each.since && `, for ${since(each.since)} at least`}{each.young && ' (may be a rollout)'}
        </div>
      ))}
      {shown.length < of.holders.length && <button type="button" onClick={() => setAll(true)}>Show {of.holders.length} of {grouped(String(of.differing))}</button>}
      {all && of.differing > of.holders.length && <div>and {grouped(String(of.differing - of.holders.length))} more</div>}
    </>
  );
}

function Summary({of}: {of: DriftSummary}) {
  const where = of.shard ? `${of.shard}: ` : '';
  if (!of.enabled) return <p class="muted">{where}settings are not compared (drift.enabled).</p>;
  return (
    <p class="muted measure">
      {where}{of.hosts === 1 ? '1 host tells' : `${grouped(String(of.hosts))} hosts tell`} how they are set up; all agree in {grouped(String(of.agreed + of.small))} of{' '}
      {grouped(String(of.groups))} comparisons{of.small > 0 && `, ${of.small} of them on few hosts`}.
      {of.unjudgedPorts > 0 && ` Ports of no known make, or of too many, which are not compared: ${grouped(String(of.unjudgedPorts))}.`}
      {of.untoldSettings > 0 && ` Settings of which a profile speaks, and which could not be read: ${grouped(String(of.untoldSettings))}.`}
      {of.leftOut > 0 && ` Differences that are not listed: ${grouped(String(of.leftOut))}.`}
    </p>
  );
}

export function DriftView() {
  useLive(); // of how many shards the site is
  const {value, error} = usePolled<Drift>('drift', 10_000, () => get<Drift>('/api/v1/drift'));
  if (error) return <p class="trouble" role="alert">{error.message}</p>;
  if (!value) return <p class="muted">Loading …</p>;
  return (
    <>
      {value.summaries.map((each) => <Summary key={each.shard} of={each} />)}
      {!value.summaries.length && <p class="muted">Nothing was compared yet.</p>}
      {value.summaries.length > 0 && !value.differences.length && <Nothing what="No settings differ" good />}
      {value.differences.length > 0 && (
        <Sheet head={['Setting', 'State', 'Among', SHARD, 'Differ', 'Values', 'Who differs']}>
          {value.differences.map((each) => (
            <tr key={`${each.shard}/${each.fact}/${each.group}`}>
              <th scope="row">{each.fact}{each.unit && `, ${each.unit}`}</th>
              <td><StateMark word={each.state} bad={IS_INCIDENT.includes(each.state)} /></td>
              <td>{each.group}</td>
              <ShardCell shard={each.shard} />
              <td>{each.differing > 0 ? `${grouped(String(each.differing))} of ${grouped(String(each.members))}` : `of ${grouped(String(each.members))}`}</td>
              <td><Values of={each} /></td>
              <td><Holders of={each} /></td>
            </tr>
          ))}
        </Sheet>
      )}
    </>
  );
}
