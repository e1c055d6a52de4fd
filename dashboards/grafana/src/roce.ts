// SPDX-License-Identifier: Apache-2.0
// RDMA over Ethernet: who pauses whom, who marks, who slows down. All of it is told by collectors on hosts.

import { I, UIDS, WARN_ABOVE_ZERO, figure, graph, heat, incidents, make, orZero, rows, variable } from './parts.ts';

const AT = `${I}, node=~"$node"`;
const PAUSED = `sum by (node, device, priority, direction) (rate(weft_port_pfc_pause_seconds_total{${AT}}[$__rate_interval]))`;
const total = (metric: string, legend: string) => ({ expr: `sum(rate(weft_port_${metric}_total{${AT}}[$__rate_interval]))`, legend });
/** An error counter, which has no series while it never moved. Adapters that count it count those that they obey, too. */
const IGNORED = { expr: orZero(total('cnp_ignored', '').expr, `weft_port_cnp_handled_total{${AT}}`), legend: 'CNP not obeyed' };
const DEVICE = '{{node}} {{device}}';

export const roce = () =>
  make(UIDS.roce, 'Weft: RoCE', 'Priority flow control, congestion marks and notifications, as the adapters of hosts count them.', [
    variable('node', 'Host', 'label_values(weft_port_info{instance=~"$instance", link_layer="Ethernet"}, node)', { multi: true }),
  ], [
    ['Now', [
      figure({ title: 'Longest paused priority', help: 'Share of the last minutes in which a port was paused on one priority.', queries: { expr: `max(${PAUSED}) or vector(0)` }, unit: 'percentunit', steps: [[null, 'green'], [0.01, 'yellow'], [0.1, 'red']] }),
      figure({ title: 'Pause storms', help: 'Open incidents PFC_STORM and DEADLOCK.', queries: { expr: `sum(weft_incidents{${I}, kind=~"PFC_STORM|DEADLOCK"})` }, steps: WARN_ABOVE_ZERO }),
      figure({ title: 'RDMA errors', help: 'Open incidents RDMA_ERRORS.', queries: { expr: `sum(weft_incidents{${I}, kind="RDMA_ERRORS"})` }, steps: WARN_ABOVE_ZERO }),
      figure({ title: 'Marked packets', help: 'Received with the mark "congestion experienced".', queries: total('ecn_marked_packets', 'marked'), unit: 'pps' }),
      figure({ title: 'Notifications sent', help: 'One for the marked packets of a flow within some microseconds.', queries: total('cnp_sent', 'CNP sent'), unit: 'pps' }),
      figure({ title: 'Notifications not obeyed', help: 'Senders that should have slowed down.', queries: IGNORED, unit: 'pps', steps: [[null, 'green'], [0.001, 'orange']] }),
    ]],
    ['Priority flow control', [
      heat({ title: 'Pause by host and priority', help: 'Share of time in which a host was paused on a priority.', queries: { expr: `sum by (node, priority) (rate(weft_port_pfc_pause_seconds_total{${AT}, direction="receive"}[$__rate_interval]))`, legend: '{{node}} priority {{priority}}' }, max: 0.5, unit: 'percentunit', height: 9 }),
      graph({ title: 'Paused, by priority', help: 'receive: the switch paused the host; transmit: the host paused the switch. The ten worst.', queries: { expr: `topk(10, ${PAUSED}) > 0`, legend: `${DEVICE} priority {{priority}} {{direction}}` }, min: 0, unit: 'percentunit', toNode: true }),
      graph({ title: 'PFC frames by priority', help: 'Of all chosen hosts.', queries: { expr: `sum by (priority, direction) (rate(weft_port_pfc_frames_total{${AT}}[$__rate_interval])) > 0`, legend: 'priority {{priority}} {{direction}}' }, min: 0, unit: 'pps' }),
      graph({ title: 'Pause of whole links', help: 'IEEE 802.3x: stops every priority, and is best off where RoCE runs.', queries: { expr: `sum by (direction) (rate(weft_port_pause_frames_total{${AT}}[$__rate_interval])) > 0`, legend: '{{direction}}' }, min: 0, unit: 'pps' }),
      graph({ title: 'Storm warnings of adapters', help: 'Times that an adapter stalled long enough to be warned of, or gave up pausing.', queries: [{ expr: `sum by (node, device) (increase(weft_port_pause_storm_warnings_total{${AT}}[$__rate_interval])) > 0`, legend: `${DEVICE} warned` }, { expr: `sum by (node, device) (increase(weft_port_pause_storm_errors_total{${AT}}[$__rate_interval])) > 0`, legend: `${DEVICE} gave up` }], bars: true, min: 0, unit: 'short', toNode: true }),
      rows({ title: 'Priorities with PFC', help: 'As the adapters are set: all hosts of a fabric should say the same.', queries: { expr: `weft_port_pfc_enabled{${AT}} == 1` }, columns: [['node', 'Host'], ['device', 'Device'], ['priority', 'Priority'], ['Value', 'PFC']], node: 'node', valueUnit: 'bool_on_off', width: 12, height: 8 }),
      graph({ title: 'Dropped on arrival', help: 'For want of a buffer: with PFC there should be none.', queries: [{ expr: `sum by (node) (rate(weft_port_receive_discards_total{${AT}}[$__rate_interval])) > 0`, legend: '{{node}}' }, { expr: `sum by (node, priority) (rate(weft_port_priority_receive_discards_total{${AT}}[$__rate_interval])) > 0`, legend: '{{node}} priority {{priority}}' }], min: 0, unit: 'pps', toNode: true }),
    ]],
    ['Congestion notification', [
      graph({ title: 'Marks and notifications', help: 'Of all chosen hosts: marked packets received, notifications sent for them, received and obeyed, received and not obeyed.', queries: [total('ecn_marked_packets', 'marked packets'), total('cnp_sent', 'CNP sent'), total('cnp_handled', 'CNP obeyed'), IGNORED], min: 0, unit: 'pps' }),
      graph({ title: 'Marked packets by host', help: 'The ten that receive most.', queries: { expr: `topk(10, sum by (node) (rate(weft_port_ecn_marked_packets_total{${AT}}[$__rate_interval]))) > 0`, legend: '{{node}}' }, min: 0, unit: 'pps', toNode: true }),
      graph({ title: 'Notifications obeyed by host', help: 'Who is slowed down most.', queries: { expr: `topk(10, sum by (node) (rate(weft_port_cnp_handled_total{${AT}}[$__rate_interval]))) > 0`, legend: '{{node}}' }, min: 0, unit: 'pps', toNode: true }),
      graph({ title: 'Notifications per marked packet', help: 'A host that receives marks and sends no notifications does not slow its senders down.', queries: { expr: `sum by (node) (rate(weft_port_cnp_sent_total{${AT}}[$__rate_interval])) / (sum by (node) (rate(weft_port_ecn_marked_packets_total{${AT}}[$__rate_interval])) > 0)`, legend: '{{node}}' }, min: 0, unit: 'percentunit', toNode: true }),
    ]],
    ['Transport', [
      graph({ title: 'RDMA errors', help: 'Of all chosen hosts, by canonical name.', queries: { expr: `sum by (error) (rate(weft_rdma_errors_total{${AT}}[$__rate_interval])) > 0`, legend: '{{error}}' }, min: 0, unit: 'cps' }),
      graph({ title: 'RDMA errors by host', help: 'The ten worst over five minutes.', queries: { expr: `topk(10, sum by (node) (weft:rdma_errors:rate5m{${AT}})) > 0`, legend: '{{node}}' }, min: 0, unit: 'cps', toNode: true }),
      incidents('Open incidents at hosts', 'Those of RDMA, of ports of hosts and of pause storms.', 'kind=~"RDMA_ERRORS|PFC_STORM|DEADLOCK|SILENT_LOSS|STRAGGLER|LINK_.*", host=~"($node)"'),
    ]],
  ]);
