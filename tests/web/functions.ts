// SPDX-License-Identifier: Apache-2.0
// Functions of the page that draw nothing. test_functions.py bundles this and runs it in Node.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {keyOf, marksOf, meanRate, type Mark} from '../../dashboards/web/src/history';
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

test('both times of one incident are marks, and what both ends tell is one', () => {
  const mark = (from: number): Mark => ({kind: 'INCIDENT', id: 'INC-1', from: at(from), text: '', severity: 'INFO'});
  assert.deepEqual(marksOf({marks: [mark(0), mark(40)]}, undefined, {marks: [mark(40)]}).map(keyOf), [`INC-1 ${at(0)}`, `INC-1 ${at(40)}`]);
});

test('a mean does not depend on how the time is cut', () => {
  // Read from 12:50 to 13:06: ten minutes at 10 a second, then six at 40.
  const total = String(10 * 600 + 40 * 360);
  const mean = (step: number, bucket: number[], rate: number[]) => meanRate({from: '2026-11-28T12:00:00Z', step: `${step}s`, buckets: 120},
    {counter: 'symbol_errors', unit: 'events', total, atLeast: false, bucket, rate, peak: rate}, Date.parse('2026-11-28T13:06:00Z'));
  const minutes = Array.from({length: 16}, (_, index) => index);
  const wanted = Number(total) / 960;
  assert.equal(mean(60, minutes.map((each) => 50 + each), minutes.map((each) => (each < 10 ? 10 : 40))), wanted);
  assert.equal(mean(3600, [0, 1], [10, 40]), wanted);
  assert.equal(mean(7200, [0], [wanted]), wanted);
  assert.equal(mean(3600, [], []), 0, 'it stood still, or was not read');
  assert.equal(meanRate({from: at(0), step: '60s', buckets: 1}, undefined), 0);
});
