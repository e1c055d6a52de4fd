// SPDX-License-Identifier: Apache-2.0
// Functions of the page that draw nothing. test_functions.py bundles this and runs it in Node.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {began, inOrder} from '../../dashboards/web/src/occurrences';
import type {Incident} from '../../dashboards/web/src/types';

const at = (minute: number) => `2026-11-28T12:${String(minute).padStart(2, '0')}:00Z`;

function incident(given: Partial<Incident>): Incident {
  return {id: 'INC-1', severity: 'WARNING', opened: at(0), occurrences: 1, timeline: [], ...given} as Incident;
}

const entry = (change: string, minute: number) => ({at: at(minute), change, severity: 'WARNING' as const, text: '', who: '', leftOut: 0});

test('an incident that was re-opened began with the last time', () => {
  const timeline = [entry('OPENED', 0), entry('RESOLVED', 5), entry('REOPENED', 40), entry('SEVERITY_CHANGED', 41)];
  assert.equal(began(incident({timeline, occurrences: 2})), at(40));
  assert.equal(began(incident({})), at(0), 'of an older weftd, without a timeline');
  assert.equal(began(incident({timeline: [entry('UPDATED', 3)]})), at(0));
});

test('of equal severity the newest is first, by its present time', () => {
  const again = incident({id: 'INC-1', timeline: [entry('OPENED', 0), entry('REOPENED', 50)]});
  const later = incident({id: 'INC-2', opened: at(30)});
  const grave = incident({id: 'INC-3', opened: at(1), severity: 'CRITICAL'});
  assert.deepEqual(inOrder([later, again, grave]).map(({id}) => id), ['INC-3', 'INC-1', 'INC-2']);
});
