// SPDX-License-Identifier: Apache-2.0
// Who waits for whom.

import { I, ON_INCIDENT, ON_PORT, STALL, SUBNET, UIDS, graph, heat, make, matrix, ranking, rows, variable } from './parts.ts';

const AT = `${I}, node=~"$switch"`;
const KINDS = 'CONGESTION_.*|SLOW_RECEIVER|PFC_STORM|DEADLOCK';
/** Of ports that were among the worst at some time of the range: the same ones at every step. */
const worst = (count: number, expression: string) =>
  `${expression} and ${ON_PORT} topk(${count}, max_over_time(${expression}[$__range] @ end()) > 0)`;
const STALLED = `weft_link_stall_ratio{${AT}}`;

export const congestion = () =>
  make(UIDS.congestion, 'Weft: congestion', 'Stall share: how much of the time a port had data to send and no credit to send it. It begins at a root and spreads to those who wait for it.', [
    SUBNET(),
    variable('switch', 'Switch', 'label_values(weft_port_info{instance=~"$instance", subnet=~"$subnet", node_type="switch"}, node)', { multi: true }),
  ], [
    ['Where', [
      matrix({ title: 'Stall share by switch and port, now', help: 'A row is a switch, a column a port. A row of colour is a switch whose every uplink waits; a column, a rail.', queries: { expr: `max by (node, port) (${STALLED})` }, row: 'node', column: 'port', steps: STALL, unit: 'percentunit' }),
      heat({ title: 'Stall share by switch', help: 'The port of each switch that waits most.', queries: { expr: `max by (node) (weft:node_stall:max{${AT}})`, legend: '{{node}}' }, max: 1, unit: 'percentunit', height: 9 }),
      heat({ title: 'Stall share by port', help: 'The forty ports that waited most within the range.', queries: { expr: worst(40, STALLED), legend: '{{node}} port {{port}}' }, max: 1, unit: 'percentunit' }),
    ]],
    ['Roots', [
      rows({ title: 'Top roots', help: 'Causes that Weft names, by how many links wait for them.', queries: { expr: `topk(10, weft_incident_waiting_links{${I}} > 0) * ${ON_INCIDENT} group_left (kind, severity, cause, node, port, host) weft_incident_info{${I}}` },
             columns: [['incident', 'Incident'], ['kind', 'Kind'], ['severity', 'Severity'], ['cause', 'Cause'], ['host', 'Host'], ['Value', 'Links that wait']], valueUnit: 'short', node: 'host', width: 12 }),
      graph({ title: 'Incidents of congestion', help: 'Open, by kind.', queries: { expr: `sum by (kind) (weft_incidents{${I}, kind=~"${KINDS}"}) > 0`, legend: '{{kind}}' }, stack: true, min: 0, unit: 'short', height: 9 }),
      ranking({ title: 'Fullest links', help: 'A link that is full and not stalled is where the waiting ends.', queries: { expr: `topk(15, weft_link_utilization_ratio{${AT}})`, legend: '{{node}} port {{port}}' }, max: 1, unit: 'percentunit' }),
      graph({ title: 'Transmit discards', help: 'Packets that were discarded before transmission: they waited too long.', queries: { expr: `topk(10, max without (source) (rate(weft_port_transmit_discards_total{${AT}}[$__rate_interval]))) > 0`, legend: '{{node}} port {{port}}' }, min: 0, unit: 'pps', toNode: true }),
    ]],
    ['Victims', [
      rows({ title: 'Top victims', help: 'Ports that wait most now, and who is at the other end of their cable.', queries: { expr: `topk(15, weft_link_stall_ratio{${I}} > 0) * ${ON_PORT} group_left (peer_node, peer_port, host) weft_port_info{${I}}` },
             columns: [['node', 'Node'], ['port', 'Port'], ['peer_node', 'Sends to'], ['peer_port', 'Its port'], ['host', 'Host'], ['Value', 'Stall']], valueUnit: 'percentunit', valueSteps: STALL, node: 'host', width: 12 }),
      graph({ title: 'Stall of the worst ports', help: 'Share of time with data and no credit.', queries: { expr: worst(10, STALLED), legend: '{{node}} port {{port}}' }, min: 0, unit: 'percentunit', height: 9, toNode: true }),
      graph({ title: 'Utilisation of the busiest ports', help: 'The busier direction as a share of the active rate.', queries: { expr: worst(10, `weft_link_utilization_ratio{${AT}}`), legend: '{{node}} port {{port}}' }, min: 0, max: 1, unit: 'percentunit', toNode: true }),
      graph({ title: 'Wait by virtual lane', help: 'Share of time in which a lane had data and no credit, the worst ten.', queries: { expr: `topk(10, rate(weft_port_virtual_lane_transmit_wait_seconds_total{${AT}}[$__rate_interval])) > 0`, legend: '{{node}} port {{port}} VL {{vl}}' }, min: 0, unit: 'percentunit', toNode: true }),
    ]],
  ]);
