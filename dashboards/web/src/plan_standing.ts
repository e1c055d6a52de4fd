// SPDX-License-Identifier: Apache-2.0
// What a plan holds, since when, how that comes back, and what it waits for; in the words of weftctl.

import type {Plan} from './types';
import {clock, plain} from './words';

const OVER = ['COMMITTED', 'ROLLED_BACK', 'FAILED', 'REJECTED', 'EXPIRED'];
/** How long a return that failed, and left nothing held, is shown beside the open plans. */
const FAILED_LATELY_MS = 86_400_000;

export const isOver = (plan: Plan) => OVER.includes(plan.state);
const takesOut = (plan: Plan) => /^(ISOLATE_LINK|RAISE_LINK_COST|DRAIN_NODE)$/.test(plan.action);
/** The action by which it holds its target, or that it reverts. */
const heldBy = (plan: Plan) => (takesOut(plan) ? plan.action : plan.revertedAction);
const isSameTarget = (a: Plan, b: Plan) => a.target?.identity === b.target?.identity;

/** What was sent for it landed after it was undone, or ended while nobody knew how its target was. */
const isInForceAfterAll = (plan: Plan) =>
  takesOut(plan) && plan.inForce && !plan.unresolved && (plan.state === 'ROLLED_BACK' || plan.state === 'FAILED');

/** The plan that took out what this one holds: of a return the one before it, and so on, as far as they are known. */
export function firstOut(plan: Plan, plans: Plan[]): Plan {
  let first = plan;
  for (let i = 0; i < plans.length && !takesOut(first); ++i) {
    const before = plans.find((each) => each.id === first.undoes);
    if (!before) break;
    first = before;
  }
  return first;
}

/** Those that are over and hold their targets, or may; of one target that nobody knows of only where no other holds it. */
export function holding(plans: Plan[]): Plan[] {
  const held = plans.filter((plan) => isOver(plan) && (plan.inForce || plan.unresolved));
  return held.filter((plan) => plan.inForce || !held.some((other) => other.inForce && isSameTarget(plan, other)));
}

/** Returns that failed within the last day and hold nothing; no plan was begun for their targets since. */
export function failedReturns(plans: Plan[], now: number): Plan[] {
  return plans.filter((plan) => plan.state === 'FAILED' && !takesOut(plan) && !plan.inForce && !plan.unresolved &&
    now - Date.parse(plan.finished ?? '') < FAILED_LATELY_MS &&
    !plans.some((other) => isSameTarget(plan, other) && Date.parse(other.created ?? '') > Date.parse(plan.created ?? '') &&
      (other.started || other.state === 'FAILED')));
}

/** The return that did not last, so that it holds what the plan took out. */
export function holderOf(plan: Plan, plans: Plan[]): Plan | undefined {
  if (plan.state !== 'COMMITTED' || !takesOut(plan) || plan.inForce) return undefined;
  return plans.find((other) => other.inForce && !takesOut(other) && firstOut(other, plans).id === plan.id);
}

function returnCommand(plan: Plan): string {
  const by = heldBy(plan);
  if (by === 'DRAIN_NODE') return `weftctl undrain ${plan.target?.host} --reason …`;
  return `weftctl ${by === 'RAISE_LINK_COST' ? 'lower-cost' : 'restore'} "${plan.target?.label}" --reason …`;
}

/** How what it holds comes back. */
export function comesBack(plan: Plan, plans: Plan[]): string {
  const command = returnCommand(plan);
  const next = plans.find((other) => !isOver(other) && other.id !== plan.id && isSameTarget(plan, other));
  if (next) return `${next.id} ${plain(next.action)} is ${plain(next.state).toLowerCase()}${next.refused ? `, refused by a guard; by hand: ${command}` : ''}`;
  if (plan.keptOut) return `${plan.keptOut}; only by hand: ${command}`;
  if (plan.onlyByHand || !plan.incidentId) return `only by hand: ${command}`;
  const by = heldBy(plan);
  const when = plan.returnAfter ? ` about ${clock(plan.returnAfter)}`
    : by === 'DRAIN_NODE' ? ` when ${plan.incidentId} is over and the host is healthy`
    : by === 'RAISE_LINK_COST' ? ` when ${plan.incidentId} is over and the link is up` : '';
  return `a plan follows${when}; by hand: ${command}`;
}

/** Whether the world is as it made it; empty: it says nothing of that. */
export function standing(plan: Plan, plans: Plan[]): string {
  if (plan.unresolved) return 'nobody knows whether it is in force: check it by hand';
  const out = {DRAIN_NODE: 'drained', RAISE_LINK_COST: 'avoided by routes'}[heldBy(plan)] ?? 'out of service';
  const since = plan.heldSince ? ` since ${clock(plan.heldSince)}` : '';
  if (isInForceAfterAll(plan)) return `${out} after all${since}: ${plan.outcome}`;
  if (plan.inForce) return `${out}${takesOut(plan) ? '' : ' again'}${since}`;
  if (plan.state !== 'COMMITTED' || !takesOut(plan)) return '';
  const holder = holderOf(plan, plans);
  return holder ? `held again by its return ${holder.id}, which did not last` : 'in force no more: it was reverted';
}

/** How far its verification is; empty: it is not verified. */
export function verified(plan: Plan): string {
  return plan.state === 'VERIFYING' && plan.windowsNeeded ? `${plan.windowsGood ?? 0} of ${plan.windowsNeeded} sweeps in a row passed` : '';
}

/** Why it does not go on; empty: it does, or waits for a person. */
export function waiting(plan: Plan): string {
  if (plan.state !== 'VERIFYING' || (plan.waitsFor && (plan.windowsGood || plan.waitsFor.startsWith('for ')))) return plan.waitsFor;
  if (plan.waitsFor) return `the last sweep did not pass: ${plan.waitsFor}`;
  return plan.windowsGood ? '' : 'for the first sweep since the change';
}
