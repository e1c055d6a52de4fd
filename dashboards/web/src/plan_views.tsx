// SPDX-License-Identifier: Apache-2.0
// Plans: what Weft would do, why, and the word of those who may decide.

import {useEffect, useRef, useState} from 'preact/hooks';
import {Failure, get, post, weftdNow} from './api';
import {HandsOff} from './hands_off';
import {refresh, useLive, usePolled} from './live';
import {EntityLink, Fact, Facts, HistoryLink, Nothing, ShardMark, StateMark, walkList} from './parts';
import {comesBack, failedReturns, firstOut, holderOf, holding, isOver, standing, verified, waiting} from './plan_standing';
import {toIncident, toPlan} from './route';
import type {Plan} from './types';
import {clock, percent, plain, since, useClock} from './words';

const canReject = (plan: Plan) => plan.state === 'PROPOSED' || plan.state === 'APPROVED';
const canAbort = (plan: Plan) => plan.state === 'EXECUTING' || plan.state === 'VERIFYING';
/** Its target is back in service, or is being brought back; weftd says when it is not. */
const canLeave = (plan: Plan) =>
  plan.state === 'ROLLING_BACK' || (plan.state === 'VERIFYING' && /^(RESTORE_LINK|UNDRAIN_NODE)$/.test(plan.action));
const VERBS = {approve: 'Approve', reject: 'Reject', abort: 'Abort', leave: 'Leave in service'};

const number = (id: string) => Number.parseInt(id.replace(/\D/g, ''), 10);

function PlanState({plan}: {plan: Plan}) {
  return <StateMark word={plan.state} good={plan.state === 'COMMITTED'} bad={plan.state === 'FAILED' || plan.unresolved} />;
}

/** What a reader wants to know of it in the list: what it holds and how that comes back, how far it is, or how a return failed. */
function gist(plan: Plan, all: Plan[]): string {
  if (plan.inForce && isOver(plan)) return `${standing(plan, all)}; comes back: ${comesBack(plan, all)}`;
  const waits = waiting(plan);
  const text = [isOver(plan) ? standing(plan, all) : '', verified(plan), waits && `waits: ${waits}`].filter(Boolean).join('; ');
  return text || (plan.state === 'FAILED' || plan.state === 'ROLLED_BACK' ? plan.outcome : '');
}

/** The guards that refuse it. */
const refusers = ({guards}: Plan) => guards.filter(({result}) => result === 'REFUSED').map(({guard}) => plain(guard).toLowerCase()).join(', ') || 'a guard';

function Entries({plans, all, named}: {plans: Plan[]; all: Plan[]; named?: boolean}) {
  const now = useClock();
  return (
    <ul class="entries" onKeyDown={walkList}>
      {plans.map((plan) => (
        <li key={plan.id}>
          <a class="entry" href={toPlan(named ? firstOut(plan, all).id : plan.id)}>
            <span class="entry-head">
              <PlanState plan={plan} />
              <b>{plain(plan.action)}</b>
              <time class="muted" dateTime={plan.updated}>updated {since(plan.updated, now)} ago</time>
            </span>
            <span class="entry-what"><ShardMark shard={plan.shard} />{plan.target?.label || plan.target?.host}</span>
            {gist(plan, all) && <span class="entry-what">{gist(plan, all)}</span>}
            <span class="muted entry-foot">{named ? firstOut(plan, all).id : plan.id}{plan.incidentId && ` · for ${plan.incidentId}`}{plan.refused && !isOver(plan) && ` · refused by ${refusers(plan)}`}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

export function PlanList() {
  const {plans} = useLive();
  const sorted = [...(plans ?? [])].sort((a, b) => number(b.id) - number(a.id));
  const open = sorted.filter((plan) => !isOver(plan));
  const held = holding(sorted);
  const failed = failedReturns(sorted, weftdNow());
  const over = sorted.filter((plan) => isOver(plan) && !held.includes(plan) && !failed.includes(plan));
  return (
    <section aria-labelledby="open-plans">
      <HandsOff />
      <h2 id="open-plans">Plans <span class="count">{plans ? open.length : '…'}</span></h2>
      {plans && !open.length && <Nothing what="No open plans" good />}
      <Entries plans={open} all={sorted} />
      {held.length > 0 && (
        <>
          <h2>Isolated, avoided or drained <span class="count">{held.length}</span></h2>
          <Entries plans={held} all={sorted} named />
        </>
      )}
      {failed.length > 0 && (
        <>
          <h2>Returns that failed <span class="count">{failed.length}</span></h2>
          <Entries plans={failed} all={sorted} />
        </>
      )}
      {over.length > 0 && (
        <>
          <h2>Finished <span class="count">{over.length}</span></h2>
          <Entries plans={over.slice(0, 100)} all={sorted} />
        </>
      )}
    </section>
  );
}

/** Asks before it is done: a dialog of the browser's own, which keeps the keyboard inside and ends with Escape. */
function Decide({plan}: {plan: Plan}) {
  const {role} = useLive();
  const dialog = useRef<HTMLDialogElement>(null);
  const [verb, setVerb] = useState<keyof typeof VERBS>();
  const [reason, setReason] = useState('');
  const [trouble, setTrouble] = useState('');
  const [sending, setSending] = useState(false);
  useEffect(() => {
    if (verb) dialog.current?.showModal();
    else dialog.current?.close();
  }, [verb]);
  if (role === 'viewer' || !(canReject(plan) || canAbort(plan) || canLeave(plan))) return null;
  // Somebody else may have decided while the dialog is open.
  const mayStill = {approve: plan.state === 'PROPOSED' && !plan.refused, reject: canReject(plan), abort: canAbort(plan), leave: canLeave(plan)};
  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    setTrouble('');
    try {
      // The revision that was read: if the plan has become another one, weftd refuses.
      await post(`/api/v1/plans/${plan.id}/${verb === 'leave' ? 'abort' : verb}`,
        verb === 'approve' ? {revision: plan.revision} : {reason, ...(verb === 'leave' && {leaveInService: true})});
      setVerb(undefined);
      setReason('');
      refresh();
    } catch (error) {
      setTrouble((error as Failure).message);
    }
    setSending(false);
  };
  return (
    <div class="actions">
      {plan.state === 'PROPOSED' && !plan.refused && <button type="button" class="primary" onClick={() => setVerb('approve')}>Approve …</button>}
      {canReject(plan) && <button type="button" onClick={() => setVerb('reject')}>Reject …</button>}
      {canAbort(plan) && <button type="button" onClick={() => setVerb('abort')}>Abort …</button>}
      {canLeave(plan) && <button type="button" onClick={() => setVerb('leave')}>Leave in service …</button>}
      <dialog ref={dialog} aria-labelledby="decide" onClose={() => setVerb(undefined)}>
        <form onSubmit={send}>
          <h3 id="decide">{verb && VERBS[verb]} {plan.id}?</h3>
          <p>{plain(plan.action)}: {plan.target?.label || plan.target?.host}</p>
          {verb === 'abort' && <p>What it did is undone. A change that is on its way is waited for.</p>}
          {verb === 'leave' && <p>The plan ends, and nothing more is sent: its target stays in service as it is.</p>}
          {verb !== 'approve' && (
            <label>Reason
              <input value={reason} required maxLength={1000} onInput={(event) => setReason(event.currentTarget.value)} />
            </label>
          )}
          {trouble && <p class="trouble" role="alert">{trouble}</p>}
          <p class="actions">
            <button type="submit" class="primary" disabled={sending || !verb || !mayStill[verb]}>{verb && VERBS[verb]}</button>
            <button type="button" onClick={() => setVerb(undefined)}>Cancel</button>
          </p>
        </form>
      </dialog>
    </div>
  );
}

const GUARD: Record<string, string> = {PASSED: '✓', REFUSED: '✗', NOT_NEEDED: '·', NEEDS_PERSON: '?'};

export function PlanView({id}: {id: string}) {
  const live = useLive();
  const now = useClock();
  const asked = usePolled<Plan>(`plan-${id}`, 2000, () => get<Plan>(`/api/v1/plans/${encodeURIComponent(id)}`));
  const plan = asked.value ?? live.plans?.find((each) => each.id === id);
  const all = live.plans ?? [];
  if (!plan) return <p class="muted">{asked.error ? asked.error.message : 'Loading …'}</p>;
  const holds = holderOf(plan, all) ?? plan;
  return (
    <article aria-labelledby="plan">
      <p class="crumbs"><a href="#/plans">Plans</a> / {plan.id}</p>
      <h2 id="plan">{plain(plan.action)}</h2>
      <p class="marks"><PlanState plan={plan} />{plan.refused && <span class="mark warning">Refused by {refusers(plan)}</span>}</p>
      <p class="summary">{plan.reason}</p>
      {plan.outcome && <p>{plan.outcome}</p>}
      <Decide plan={plan} />
      <Facts>
        <Fact name="Target"><EntityLink entity={plan.target} /></Fact>
        {plan.incidentId && <Fact name="Incident"><a href={toIncident(plan.incidentId)}>{plan.incidentId}</a></Fact>}
        {plan.shard && <Fact name="Shard">{plan.shard}</Fact>}
        <Fact name="Actuator">{plan.actuator || '–'}</Fact>
        <Fact name="Requested by">{plan.requestedBy || '–'}</Fact>
        {plan.approvedBy && <Fact name="Approved by">{plan.approvedBy}</Fact>}
        <Fact name="Jobs">{plan.jobs.length ? plan.jobs.join(', ') : 'none known'}</Fact>
        <Fact name="Created">{clock(plan.created)} <span class="muted">{since(plan.created, now)} ago</span>{' '}
          <HistoryLink entity={plan.target} from={plan.created} to={plan.finished} /></Fact>
        {standing(plan, all) && <Fact name="Now">{standing(plan, all)}</Fact>}
        {holds.inForce && isOver(plan) && <Fact name="Comes back">{comesBack(holds, all)}</Fact>}
        {verified(plan) && <Fact name="Verified">{verified(plan)}</Fact>}
        {waiting(plan) && <Fact name="Waits">{waiting(plan)}</Fact>}
        {plan.probationUntil && <Fact name="On probation until">{clock(plan.probationUntil)}</Fact>}
        {plan.expires && !isOver(plan) && <Fact name="Expires">{clock(plan.expires)}</Fact>}
      </Facts>
      <h3>Guards</h3>
      <ul class="guards">
        {plan.guards.map((guard) => (
          <li key={guard.guard} class={guard.result === 'REFUSED' ? 'bad' : ''}>
            <span aria-hidden="true">{GUARD[guard.result] ?? '?'}</span>
            <b>{plain(guard.guard)}</b> <span class="unseen">{plain(guard.result)}:</span> {guard.explanation}
          </li>
        ))}
      </ul>
      <h3>Alternatives</h3>
      <ul class="plain-list">
        {plan.candidates.map((each) => (
          <li key={each.action}><b>{plain(each.action)}</b>{!each.allowed && ' (refused by a guard)'}: costs {percent(each.costRatio)}, leaves {percent(each.harmRatio)} harm. {each.explanation}</li>
        ))}
      </ul>
      <h3>Steps</h3>
      <ol class="plain-list">
        {plan.steps.map((step, index) => <li key={index}><span class="muted">{clock(step.at)} {step.who}</span> {step.what}</li>)}
      </ol>
    </article>
  );
}
