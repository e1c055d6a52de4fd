// SPDX-License-Identifier: Apache-2.0
// Acceptances: runs that decide whether hosts, switches and links are fit for jobs, one with its report, and, for those who may, a new one and the end of one.

import {useState} from 'preact/hooks';
import {get, getFile, type Failure} from './api';
import {keep} from './evidence';
import {useLive, usePolled} from './live';
import {useOrder} from './order';
import {Fact, Facts, Nothing, SHARD, ShardCell, Sheet, StateMark} from './parts';
import {toAcceptance, toHost, useRoute} from './route';
import type {Acceptance, AcceptanceCheck, AcceptanceReport} from './types';
import {clock, grouped, plain, seconds} from './words';

const LENGTHS = [{name: '10 min', seconds: 600}, {name: '1 h', seconds: 3600}, {name: '2 h', seconds: 7200}, {name: '12 h', seconds: 43_200}, {name: '1 d', seconds: 86_400}];
/** Ports that are shown of each check; more are counted. */
const SHOWN = 64;

const VerdictMark = ({verdict}: {verdict: string}) =>
  verdict === 'VERDICT_UNSPECIFIED' ? <>not judged yet</> : <StateMark word={verdict} good={verdict === 'PASS'} bad={verdict === 'FAIL'} />;

const stateText = ({ended, endedBy, until}: Acceptance) => (!ended ? `ends ${clock(until)}` : endedBy ? `ended by ${endedBy}, ${clock(ended)}` : `over since ${clock(ended)}`);

const names = (text: FormDataEntryValue | null) => String(text ?? '').split(',').map((each) => each.trim()).filter(Boolean);

function Start() {
  const {trouble, order} = useOrder();
  const send = async (form: HTMLFormElement) => {
    const given = new FormData(form);
    const run = {hosts: names(given.get('hosts')), switches: names(given.get('switches')), links: names(given.get('links')), length: `${given.get('length')}s`};
    if (await order('/api/v1/acceptances', run)) form.reset();
  };
  return (
    <>
      <form class="filter" aria-label="New acceptance" onSubmit={(event) => { event.preventDefault(); void send(event.currentTarget); }}>
        <label>Hosts <input name="hosts" autoComplete="off" placeholder="gpu-01, gpu-02" /></label>
        <label>Switches <input name="switches" autoComplete="off" /></label>
        <label>Links <input name="links" autoComplete="off" placeholder="leaf-1:12" /></label>
        <label>Watch for <select name="length" defaultValue="7200">{LENGTHS.map((each) => <option key={each.name} value={each.seconds}>{each.name}</option>)}</select></label>
        <button type="submit">Start</button>
      </form>
      <p class="muted measure">Names are separated by commas. Without any, everything that is watched is looked at.</p>
      {trouble && <p class="trouble" role="alert">{trouble}</p>}
    </>
  );
}

function Runs({mayStart}: {mayStart: boolean}) {
  const {value, error} = usePolled<Acceptance[]>('acceptances', 5000, async () =>
    (await get<{acceptances: Acceptance[]}>('/api/v1/acceptances')).acceptances);
  if (error) return <p class="trouble">{error.message}</p>;
  if (!value) return <p class="muted">Loading …</p>;
  return (
    <>
      {mayStart && <Start />}
      {!value.length && <Nothing what="No acceptances" />}
      {value.length > 0 && (
        <Sheet head={['Run', SHARD, 'Result', 'About', 'Failed', 'Started', 'By', 'State']}>
          {[...value].reverse().map((each) => (
            <tr key={each.id}>
              <th scope="row"><a href={toAcceptance(each.id)}>{each.id}</a></th>
              <ShardCell shard={each.shard} />
              <td><VerdictMark verdict={each.verdict} /></td>
              <td class="long">{each.what}</td>
              <td>{each.failed.map(plain).join(', ') || '–'}</td>
              <td>{clock(each.started)}</td>
              <td>{each.who}</td>
              <td>{stateText(each)}</td>
            </tr>
          ))}
        </Sheet>
      )}
    </>
  );
}

/** Ports of that verdict; nothing where there are none. */
function Ports({check, verdict, count}: {check: AcceptanceCheck; verdict: string; count: number}) {
  const ports = check.ports.filter((each) => each.verdict === verdict).slice(0, SHOWN);
  if (!ports.length) return null;
  return (
    <>
      <Sheet head={['Port', 'Host', verdict === 'FAIL' ? 'Found' : 'Why', ...(verdict === 'NOT_YET' ? ['Can be judged'] : [])]}>
        {ports.map((each) => (
          <tr key={`${each.port} ${each.told}`}>
            <th scope="row">{each.port}</th>
            <td>{each.host ? <a href={toHost(each.host)}>{each.host}</a> : '–'}</td>
            <td class="long">{each.told}</td>
            {verdict === 'NOT_YET' && <td>{each.judgedAt ? clock(each.judgedAt) : 'not known'}</td>}
          </tr>
        ))}
      </Sheet>
      {count > ports.length && <p class="muted">And {grouped(String(count - ports.length))} more.</p>}
    </>
  );
}

const COUNTS = {FAIL: 'failed', NOT_YET: 'unfinished', NOT_MEASURED: 'unmeasured'} as const;
type NoPass = keyof typeof COUNTS;

function Section({title, verdict, checks}: {title: string; verdict: NoPass; checks: AcceptanceCheck[]}) {
  const some = checks.filter((check) => check[COUNTS[verdict]] > 0 || (verdict !== 'FAIL' && check.verdict === verdict));
  if (!some.length) return null;
  return (
    <>
      <h3>{title}</h3>
      {some.map((check) => (
        <section key={check.kind} aria-label={`${title}: ${check.name}`}>
          <p><b>{plain(check.name)}</b>: {verdict === 'FAIL' ? check.limit : check.told}</p>
          <Ports check={check} verdict={verdict} count={check[COUNTS[verdict]]} />
        </section>
      ))}
    </>
  );
}

function Checks({report}: {report: AcceptanceReport}) {
  return (
    <Sheet head={['Check', 'Result', 'Passed', 'Failed', 'Not yet', 'Not measured', 'Limit']}>
      {report.checks.map((check) => (
        <tr key={check.kind}>
          <th scope="row">{plain(check.name)}{!check.required && <span class="muted"> (not required)</span>}</th>
          <td><VerdictMark verdict={check.verdict} /></td>
          {[check.passed, check.failed, check.unfinished, check.unmeasured].map((count, at) => <td key={at}>{grouped(String(count))}</td>)}
          <td class="long" title={check.source}>{check.limit}</td>
        </tr>
      ))}
    </Sheet>
  );
}

function Hosts({report}: {report: AcceptanceReport}) {
  const others = report.hosts.filter((each) => each.verdict !== 'PASS');
  const passed = report.hosts.length - others.length;
  if (!report.hosts.length) return null;
  return (
    <>
      <h3>Hosts</h3>
      <p>{passed} of {report.hosts.length} pass.</p>
      {others.length > 0 && (
        <Sheet head={['Host', 'Result']}>
          {others.slice(0, SHOWN).map((each) => (
            <tr key={each.name}><th scope="row"><a href={toHost(each.name)}>{each.name}</a></th><td><VerdictMark verdict={each.verdict} /></td></tr>
          ))}
        </Sheet>
      )}
      {others.length > SHOWN && <p class="muted">And {others.length - SHOWN} more.</p>}
    </>
  );
}

function Document({id}: {id: string}) {
  const [trouble, setTrouble] = useState('');
  const load = async () => {
    try {
      const {name, content} = await getFile(`/api/v1/acceptances/${id}?format=html`);
      keep(name, content);
      setTrouble('');
    } catch (error) {
      setTrouble((error as Failure).message);
    }
  };
  return <>
    <button type="button" onClick={load} title="One HTML file, for paper or a hand-over">Report as a file</button>
    {trouble && <span class="trouble" role="alert">{trouble}</span>}
  </>;
}

function Run({id, mayEnd}: {id: string; mayEnd: boolean}) {
  const {trouble, order} = useOrder();
  const {value, error} = usePolled<Acceptance>(`acceptance-${id}`, 3000, () => get<Acceptance>(`/api/v1/acceptances/${encodeURIComponent(id)}`));
  if (error) return <p class="trouble">{error.message}</p>;
  if (!value) return <p class="muted">Loading …</p>;
  const {report} = value;
  return (
    <>
      <p class="actions">
        <a href={toAcceptance()}>All acceptances</a>
        <Document id={id} />
        {mayEnd && !value.ended && <button type="button" aria-label={`End ${id}`} onClick={() => order(`/api/v1/acceptances/${id}/end`, {})}>End</button>}
      </p>
      {trouble && <p class="trouble" role="alert">{trouble}</p>}
      <h3>{value.id}: <VerdictMark verdict={value.verdict} /></h3>
      <Facts>
        <Fact name="About">{value.what}</Fact>
        <Fact name="Started">{clock(value.started)} by {value.who}</Fact>
        <Fact name="Watched for">{seconds(parseFloat(value.length))}</Fact>
        <Fact name="State">{stateText(value)}</Fact>
        {value.watchedSince && value.watchedSince > (value.started ?? '') && <Fact name="Readings began anew">{clock(value.watchedSince)}, after a restart of weftd</Fact>}
        {report && <Fact name="Ports">{grouped(String(report.ports))}</Fact>}
      </Facts>
      {!report && <p class="muted">It is not judged yet.</p>}
      {report && <>
        <Section title="What failed" verdict="FAIL" checks={report.checks} />
        <h3>Checks</h3>
        <Checks report={report} />
        <Hosts report={report} />
        <Section title="What could not be judged yet" verdict="NOT_YET" checks={report.checks} />
        <Section title="What was not measured" verdict="NOT_MEASURED" checks={report.checks} />
      </>}
    </>
  );
}

export function Acceptances() {
  const {role} = useLive();
  const run = new URLSearchParams(useRoute().query).get('run');
  return run ? <Run key={run} id={run} mayEnd={role !== 'viewer'} /> : <Runs mayStart={role !== 'viewer'} />;
}
