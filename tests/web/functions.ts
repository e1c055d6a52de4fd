// SPDX-License-Identifier: Apache-2.0
// Functions of the page that draw nothing. test_functions.py bundles this and runs it in Node.

import assert from 'node:assert/strict';
import {test} from 'node:test';
import {keyOf, marksOf, meanRate, type CounterHistory, type History, type Mark, type PortHistory} from '../../dashboards/web/src/history';
import {began, inOrder} from '../../dashboards/web/src/occurrences';
import {badList, badText} from '../../dashboards/web/src/bad_nodes';
import type {Layout} from '../../dashboards/web/src/layout';
import {holding, standing} from '../../dashboards/web/src/plan_standing';
import {isRead, stallOf, totalOf, trafficOf} from '../../dashboards/web/src/port_figures';
import {linkLetter, portWord} from '../../dashboards/web/src/port_state';
import {asAsked, parseAnswer, toOrder} from '../../dashboards/web/src/turning';
import type {FabricMap, Incident, MapState, Plan, Port} from '../../dashboards/web/src/types';

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

const NOW = Date.parse(at(10));

function port(given: Partial<Port>): Port {
  return {
    nodeGuid: '0x2', port: 1, state: 'ACTIVE', physicalState: 'LINK_UP', stale: false, stateReadAt: at(10), countersReadAt: at(10),
    peer: {node: 'leaf', nodeGuid: '0x1', port: 4, name: ''}, ...given,
  } as Port;
}

test('a port whose counters are old has the state that was read lately', () => {
  assert.deepEqual(portWord(port({}), '', NOW), {word: 'up', good: true, bad: false, note: '', isOld: false});
  const blind = portWord(port({stale: true, countersReadAt: at(2)}), '', NOW + 3000);
  assert.deepEqual([blind.word, blind.good, blind.note], ['up', false, 'read 3 s ago; its counters are 8 min old']);
});

test('a port that is not read any more says how it was', () => {
  const silent = portWord(port({stale: true, stateReadAt: at(1), countersReadAt: at(0)}), 's', NOW);
  assert.deepEqual([silent.word, silent.bad, silent.note, silent.isOld], ['no fresh data', false, 'Up 9 min ago', true]);
  assert.equal(portWord(port({stale: true, state: 'STATE_UNKNOWN', stateReadAt: undefined}), '', NOW).word, 'not read');
});

test('of a cable that was pulled the other end tells', () => {
  const map = [{fabric: 'ib0', shape: 'a', guids: ['0x1', '0x2'], links: [0, 3, 1, 2, 0, 4, 1, 1]}] as FabricMap[];
  const state = {fabrics: [{fabric: 'ib0', shape: 'a', links: 'ud'}]} as MapState;
  const pulled = port({stale: true, stateReadAt: at(7)});
  assert.equal(linkLetter(map, state, pulled), 'd');
  assert.equal(linkLetter(map, state, port({port: 2})), 'u');
  assert.equal(linkLetter(map, {fabrics: [{fabric: 'ib0', shape: 'b', links: 'ud'}]} as MapState, pulled), '', 'of another shape of the map');
  const {word, bad, note, isOld} = portWord(pulled, 'd', NOW);
  assert.deepEqual([word, bad, note, isOld], ['down (the other end says so)', true, 'its own state: Up 3 min ago', true]);
});

test('of a degraded host with one adapter down the list does not say that the host is down', () => {
  const adapters = ['mlx5_0', 'mlx5_1', 'mlx5_2'];
  const map = {guids: ['0x1', '0x2', '0x3'], names: adapters.map((each) => `gpu-1 ${each}`), hosts: ['gpu-1', 'gpu-1', 'gpu-1'], types: 'CCC', links: [] as number[]};
  const layout = {graph: {map, nodes: 3, links: 0}} as Layout;
  const shading = {nodes: Uint8Array.from([1, 1, 2]), links: new Uint8Array(), counts: [0, 2, 1, 0], cables: [0, 0, 0, 0]};
  const {rows, total} = badList(layout, shading, 'state', [0, 1, 2]);
  assert.equal(total, 1);
  assert.equal(badText(rows[0], 'state'), '1 adapter down, 2 adapters degraded');
  const [single] = badList(layout, shading, 'state', [2]).rows;
  assert.deepEqual([single.name, badText(single, 'state')], ['gpu-1 mlx5_2', 'unhealthy or down']);
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

const HISTORY = {from: at(0), step: '60s', buckets: 4, ports: [], marks: []} as History;

/** Of one that stood still weftd sends no buckets. */
const counter = (name: string, total = '0', bucket: number[] = [], rate: number[] = []): CounterHistory => (
  {counter: name, unit: name === 'transmit_wait' ? 'seconds' : name.endsWith('bytes') ? 'bytes' : 'events', total, atLeast: false, bucket, rate, peak: rate});
const counted = (...counters: CounterHistory[]) => ({nodeGuid: '0x1', port: 1, counters} as PortHistory);

test('what stood still is 0 where the port was read, and what was not read is not', () => {
  const idle = counted(counter('transmit_bytes'), counter('receive_bytes'), counter('transmit_wait'), counter('symbol_errors', '7', [1, 2], [0.1, 0]));
  assert.deepEqual(trafficOf(HISTORY, idle), [null, 0, 0, null]);
  assert.deepEqual(stallOf(HISTORY, idle), [null, 0, 0, null]);
  const oneWay = counted(counter('transmit_bytes'), counter('receive_bytes', '60', [0, 1], [1, 0]));
  assert.deepEqual(trafficOf(HISTORY, oneWay), [8, 0, null, null]);
  assert.deepEqual(stallOf(HISTORY, oneWay), [null, null, null, null], 'its waits were not read');
  assert.deepEqual(trafficOf(HISTORY, counted(counter('symbol_errors', '7', [1], [0.1]))), [null, null, null, null]);
});

test('errors that were not read are not none', () => {
  assert.equal(totalOf(counted(counter('transmit_bytes', '60', [0], [1])), ['symbol_errors', 'receive_errors']), null);
  assert.equal(totalOf(counted(counter('symbol_errors')), ['symbol_errors', 'receive_errors']), 0);
  assert.equal(totalOf(counted(counter('symbol_errors', '7'), counter('receive_errors', '2')), ['symbol_errors', 'receive_errors']), 9);
  assert.deepEqual([isRead(counted()), isRead(counted(counter('transmit_bytes')))], [false, true]);
});

test('characters that turn text are written out in answers, and are themselves in questions', () => {
  const name = 'leaf\u202e10-fael';
  const shown = 'leaf\\u202e10-fael';
  assert.deepEqual(parseAnswer(JSON.stringify({names: [name, 'شبكة'], ports: 2})), {names: [shown, 'شبكة'], ports: 2});
  assert.deepEqual(parseAnswer('{"name": "leaf\\u202E10-fael", "more": "\\u061c\\u2069"}'), {name: shown, more: '\\u061c\\u2069'}, 'as protobuf writes it');
  assert.deepEqual(parseAnswer('{"path": "C:\\\\u202e"}'), {path: 'C:\\u202e'}, 'which is no such character');
  assert.equal(asAsked(`/api/v1/nodes/${encodeURIComponent(shown)}?x=%5C`), `/api/v1/nodes/${encodeURIComponent(name)}?x=%5C`);
  assert.deepEqual(JSON.parse(toOrder({what: shown, reason: 'C:\\temp "u202e"'})), {what: name, reason: 'C:\\temp "u202e"'});
});

test('what landed after its plan ended says so, and why that was to be undone', () => {
  const plan = {id: 'PLAN-1', action: 'DRAIN_NODE', state: 'FAILED', inForce: true, unresolved: false, outcome: 'aborted by ann: wrong host'} as Plan;
  assert.equal(standing(plan, [plan]), 'drained after all: aborted by ann: wrong host');
  assert.equal(standing({...plan, state: 'ROLLED_BACK'}, [plan]), 'drained after all: aborted by ann: wrong host');
  assert.equal(standing({...plan, state: 'COMMITTED'}, [plan]), 'drained');
  assert.match(standing({...plan, unresolved: true}, [plan]), /^nobody knows/);
  assert.deepEqual(holding([plan]), [plan]);
});
