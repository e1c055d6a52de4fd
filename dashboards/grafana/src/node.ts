// SPDX-License-Identifier: Apache-2.0
// One host or switch. An adapter is called after its host ("gpu-0001 mlx5_0"), and links from elsewhere may name either.

import { I, ON_PORT, UIDS, figure, graph, incidents, make, mapped, rows, states, variable } from './parts.ts';

/** Selects by the name of a machine and of its adapters. Not in quotes: a dot in a name is escaped with one backslash. */
const named = (label: string) => `${label}=~` + '`${machine:regex}( .+)?`';
const AT = `${I}, ${named('node')}`;
const PORT = '{{node}} {{device}} port {{port}}';
const bits = (metric: string) => `8 * rate(weft_port_${metric}_bytes_total{${AT}}[$__rate_interval])`;
/** Some errors have several sources: no sum of them. */
const errors = (metric: string, word: string) => ({ expr: `max without (source) (rate(weft_port_${metric}_total{${AT}}[$__rate_interval])) > 0`, legend: `${PORT} ${word}` });
const VERDICTS = mapped({ HEALTHY: { text: 'HEALTHY', color: 'green' }, DEGRADED: { text: 'DEGRADED', color: 'orange' }, UNHEALTHY: { text: 'UNHEALTHY', color: 'red' }, UNKNOWN: { text: 'UNKNOWN', color: 'text' } });

export const node = () =>
  make(UIDS.node, 'Weft: node', 'One host with its adapters, or one switch.', [
    variable('host', 'Host or switch', 'label_values(weft_node_health{instance=~"$instance"}, node)'),
    variable('machine', 'Machine', 'label_values(weft_port_info{instance=~"$instance", node=~`${host:regex}( .+)?`}, host)', { hide: true }),
  ], [
    ['Now', [
      figure({ title: 'Health', help: 'May a scheduler place a job here? No data is UNKNOWN.', queries: { expr: `weft_node_health{${AT}}`, legend: '{{verdict}}' }, name: true, mappings: VERDICTS }),
      figure({ title: 'Ports up', help: 'Logically active.', queries: { expr: `sum(weft_port_up{${AT}})` } }),
      figure({ title: 'Ports with old readings', help: 'Not read for three intervals.', queries: { expr: `sum(weft_port_stale{${AT}})` }, steps: [[null, 'green'], [1, 'orange']] }),
      figure({ title: 'Incidents', help: 'Open ones of which this node is the cause, or one end of the cause.', queries: { expr: `count(weft_incident_info{${AT}} or weft_incident_info{${I}, ${named('peer_node')}} or weft_incident_info{${I}, ${named('host')}}) or vector(0)` }, steps: [[null, 'green'], [1, 'orange']] }),
      figure({ title: 'Jobs', help: 'Jobs on this host, as its collector reports.', queries: { expr: `count(weft_job_info{${AT}}) or vector(0)` } }),
      figure({ title: 'Worst stall', help: 'Share of time that a port of it had data and no credit.', queries: { expr: `max(weft_link_stall_ratio{${AT}})` }, unit: 'percentunit', steps: [[null, 'green'], [0.05, 'yellow'], [0.2, 'red']] }),
      incidents('Open incidents of which it is an end', 'The incident leads to its page in Weft.', named('host')),
      rows({ title: 'Ports', help: 'What is at the other ends; 1 is up.', queries: { expr: `weft_port_up{${AT}} * ${ON_PORT} group_left (peer_node, peer_port, subnet, link_layer, netdev, driver, firmware) weft_port_info{${AT}}` },
             columns: [['node', 'Node'], ['device', 'Device'], ['port', 'Port'], ['netdev', 'Interface'], ['peer_node', 'Other end'], ['peer_port', 'Its port'], ['subnet', 'Subnet'], ['link_layer', 'Link layer'], ['driver', 'Driver'], ['firmware', 'Firmware'], ['Value', 'Up']], node: 'peer_node' }),
    ]],
    ['Traffic', [
      graph({ title: 'Sent', help: 'By each port.', queries: { expr: bits('transmit'), legend: PORT }, min: 0, unit: 'bps' }),
      graph({ title: 'Received', help: 'By each port.', queries: { expr: bits('receive'), legend: PORT }, min: 0, unit: 'bps' }),
      graph({ title: 'Utilisation', help: 'The busier direction as a share of the active rate.', queries: { expr: `weft_link_utilization_ratio{${AT}}`, legend: PORT }, min: 0, max: 1, unit: 'percentunit' }),
      graph({ title: 'Stall', help: 'Share of time with data and no credit.', queries: { expr: `weft_link_stall_ratio{${AT}}`, legend: PORT }, min: 0, unit: 'percentunit' }),
    ]],
    ['Errors', [
      states({ title: 'Ports', help: 'Up and down over time.', queries: { expr: `weft_port_up{${AT}}`, legend: PORT }, mappings: mapped({ '0': { text: 'down', color: 'red' }, '1': { text: 'up', color: 'green' } }) }),
      graph({ title: 'Link errors', help: 'Those that a healthy link does not have.', queries: [errors('symbol_errors', 'symbol errors'), errors('receive_errors', 'receive errors'), errors('link_error_recovery', 'recoveries'), errors('link_downed', 'went down'), errors('transmit_discards', 'discards')], min: 0, unit: 'cps' }),
      graph({ title: 'RDMA errors', help: 'By canonical name.', queries: { expr: `sum by (error) (rate(weft_rdma_errors_total{${AT}}[$__rate_interval])) > 0`, legend: '{{error}}' }, min: 0, unit: 'cps' }),
    ]],
    ['Host', [
      graph({ title: 'Paused, by priority', help: 'Share of time; receive: the peer paused it.', queries: { expr: `sum by (device, priority, direction) (rate(weft_port_pfc_pause_seconds_total{${AT}}[$__rate_interval])) > 0`, legend: '{{device}} priority {{priority}} {{direction}}' }, min: 0, unit: 'percentunit' }),
      graph({ title: 'PCIe stalls', help: 'Share of the last second in which reads or writes of the adapter waited: a slow host.', queries: [{ expr: `weft_port_pcie_read_stall_ratio{${AT}}`, legend: '{{device}} reads' }, { expr: `weft_port_pcie_write_stall_ratio{${AT}}`, legend: '{{device}} writes' }], min: 0, unit: 'percentunit' }),
      graph({ title: 'Temperature of modules', help: 'Optics and cables, as they say.', queries: { expr: `weft_port_module_temperature_celsius{${AT}}`, legend: '{{device}} port {{port}}' }, unit: 'celsius' }),
      graph({ title: 'Batches of its collector', help: 'Accepted, of those late ones, and lost ones.', queries: [{ expr: `rate(weft_collector_batches_total{${AT}}[$__rate_interval])`, legend: 'taken' }, { expr: `rate(weft_collector_late_batches_total{${AT}}[$__rate_interval])`, legend: 'late' }, { expr: `rate(weft_collector_lost_batches_total{${AT}}[$__rate_interval])`, legend: 'lost' }], min: 0, unit: 'cps' }),
    ]],
  ]);
