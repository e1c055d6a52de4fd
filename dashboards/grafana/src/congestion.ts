// SPDX-License-Identifier: Apache-2.0
// Who waits for whom.

import { ALL, I, ON_INCIDENT, ON_PORT, STALL, SUBNET, UIDS, allOrChosen, graph, heat, make, matrix, ranking, rows, variable } from './parts.ts';

const KINDS = 'CONGESTION_.*|SLOW_RECEIVER|PFC_STORM|DEADLOCK';
/** Of ports that were among the worst at some time of the range: the same ones at every step. */
const worst = (count: number) => (series: string) => `${series} and ${ON_PORT} topk(${count}, max_over_time(${series}[$__range] @ end()) > 0)`;
/** Of what was recorded of the chosen subnets, or of each port of the chosen switches. */
const choice = (recorded: string, raw: Parameters<typeof allOrChosen>[2], of?: (expression: string) => string) =>
  allOrChosen('switch', (selector) => `${recorded}{${selector}, subnet=~"$subnet"}`, raw, of);
const worstSwitches = (selector: string) => {
  const series = `weft:switch_stall:worst{${selector}, subnet=~"$subnet"}`;
  return `${series} and on (job, instance, guid) topk(20, max_over_time(${series}[$__range] @ end()))`;
};
const stalled = (of?: (expression: string) => string) => choice('weft:switch_link_stall:worst', 'weft_link_stall_ratio', of);
const utilized = (of?: (expression: string) => string) => choice('weft:switch_link_utilization:worst', 'weft_link_utilization_ratio', of);
const victims = (selector: string) => `weft_link_stall_ratio{${selector}} * ${ON_PORT} group_left (peer_node, peer_port, host) weft_port_info{${selector}}`;
const IF_ALL = 'Of all switches: the hundred worst ports of each minute, as recording rules keep them; a line has a gap where its port was not among them.';

export const congestion = () =>
  make(UIDS.congestion, 'Weft: congestion', 'Stall share: how much of the time a port had data to send and no credit to send it. It begins at a root and spreads to those who wait for it. Of all switches the panels show what the recording rules of weft.rules.yml keep: without those rules choose switches.', [
    SUBNET(),
    variable('switch', 'Switch', 'label_values(weft_port_info{instance=~"$instance", subnet=~"$subnet", node_type="switch"}, node)', { multi: true, all: ALL }),
  ], [
    ['Where', [
      matrix({ title: 'Stall share by switch and port, now', help: 'A row is a switch, a column a port. A row of colour is a switch whose every uplink waits; a column, a rail. Of all switches: the twenty with the worst ports, as recording rules keep them.', queries: { expr: `max by (node, port) (${choice('weft:switch_link_stall:of_worst_switches', 'weft_link_stall_ratio')})` }, row: 'node', column: 'port', steps: STALL, unit: 'percentunit' }),
      heat({ title: 'Stall share by switch', help: 'The port of each switch that waits most. Of all switches: the twenty that waited most within the range, as a recording rule keeps them each minute.', queries: { expr: `max by (node) (${allOrChosen('switch', worstSwitches, 'weft_link_stall_ratio')})`, legend: '{{node}}' }, max: 1, unit: 'percentunit', height: 9 }),
      heat({ title: 'Stall share by port', help: `The forty ports that waited most within the range. ${IF_ALL}`, queries: { expr: stalled(worst(40)), legend: '{{node}} port {{port}}' }, max: 1, unit: 'percentunit' }),
    ]],
    ['Roots', [
      rows({ title: 'Top roots', help: 'Causes that Weft names, by how many links wait for them.', queries: { expr: `topk(10, weft_incident_waiting_links{${I}} > 0) * ${ON_INCIDENT} group_left (kind, severity, cause, node, port, host) weft_incident_info{${I}}` },
             columns: [['incident', 'Incident'], ['kind', 'Kind'], ['severity', 'Severity'], ['cause', 'Cause'], ['host', 'Host'], ['Value', 'Links that wait']], valueUnit: 'short', node: 'host', width: 12 }),
      graph({ title: 'Incidents of congestion', help: 'Open, by kind.', queries: { expr: `sum by (kind) (weft_incidents{${I}, kind=~"${KINDS}"}) > 0`, legend: '{{kind}}' }, stack: true, min: 0, unit: 'short', height: 9 }),
      ranking({ title: 'Fullest links', help: 'A link that is full and not stalled is where the waiting ends. Of all switches: as a recording rule keeps them each minute.', queries: { expr: `topk(15, ${utilized()})`, legend: '{{node}} port {{port}}' }, max: 1, unit: 'percentunit' }),
      graph({ title: 'Transmit discards', help: 'Packets that were discarded before transmission: they waited too long. Of all switches: as a recording rule keeps the worst each minute.', queries: { expr: `topk(10, ${choice('weft:switch_transmit_discards:worst', (selector) => `max without (source) (rate(weft_port_transmit_discards_total{${selector}}[$__rate_interval]))`)}) > 0`, legend: '{{node}} port {{port}}' }, min: 0, unit: 'pps', toNode: true }),
    ]],
    ['Victims', [
      rows({ title: 'Top victims', help: 'Ports that wait most now, and who is at the other end of their cable: of hosts and switches, as a recording rule keeps them each minute, or of the chosen switches.', queries: { expr: `topk(15, ${allOrChosen('switch', 'weft:link_stall:victims', victims)} > 0)` },
             columns: [['node', 'Node'], ['port', 'Port'], ['peer_node', 'Sends to'], ['peer_port', 'Its port'], ['host', 'Host'], ['Value', 'Stall']], valueUnit: 'percentunit', valueSteps: STALL, node: 'host', width: 12 }),
      graph({ title: 'Stall of the worst ports', help: `Share of time with data and no credit. ${IF_ALL}`, queries: { expr: stalled(worst(10)), legend: '{{node}} port {{port}}' }, min: 0, unit: 'percentunit', height: 9, toNode: true }),
      graph({ title: 'Utilisation of the busiest ports', help: `The busier direction as a share of the active rate. ${IF_ALL}`, queries: { expr: utilized(worst(10)), legend: '{{node}} port {{port}}' }, min: 0, max: 1, unit: 'percentunit', toNode: true }),
      graph({ title: 'Wait by virtual lane', help: `Share of time in which a lane had data and no credit, the worst ten. Of all switches: of the hundred that wait most, as a recording rule keeps them each minute.`, queries: { expr: `topk(10, ${choice('weft:switch_virtual_lane_wait:worst', (selector) => `rate(weft_port_virtual_lane_transmit_wait_seconds_total{${selector}}[$__rate_interval])`)}) > 0`, legend: '{{node}} port {{port}} VL {{vl}}' }, min: 0, unit: 'percentunit', toNode: true }),
    ]],
  ]);
