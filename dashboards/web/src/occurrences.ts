// SPDX-License-Identifier: Apache-2.0
// An incident that was re-opened began anew: its age, its place in lists and its charts are those of the present time. Pure.

import type {Incident, Severity} from './types';

const WEIGHT: Record<string, number> = {CRITICAL: 3, WARNING: 2, INFO: 1};

export const weight = (severity: Severity) => WEIGHT[severity] ?? 0;

/** When it was opened or last re-opened. The first opening where the timeline does not tell, as of an older weftd. */
export function began({timeline, opened}: Incident): string | undefined {
  return timeline.filter(({change}) => change === 'OPENED' || change === 'REOPENED').pop()?.at ?? opened;
}

/** The worst first, of equals the newest. */
export function inOrder(incidents: Incident[]): Incident[] {
  const newest = (incident: Incident) => Date.parse(began(incident) ?? '');
  return [...incidents].sort((a, b) => weight(b.severity) - weight(a.severity) || newest(b) - newest(a));
}
