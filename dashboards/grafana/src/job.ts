// SPDX-License-Identifier: Apache-2.0
// One job: all hosts that it holds, side by side. The one that differs is the one to look at.

import { I, ON_INCIDENT, UIDS, figure, graph, heat, make, orZero, rows, variable } from './parts.ts';

const HOSTS = `${I}, node=~` + '`(${hosts:regex})( .+)?`';
/** Adds the label `host`: an adapter is called after its host. */
const byHost = (aggregate: string, expression: string) => `${aggregate} by (host) (label_replace(${expression}, "host", "$1", "node", "([^ ]+).*"))`;
const sent = byHost('sum', `8 * rate(weft_port_transmit_bytes_total{${HOSTS}}[$__rate_interval])`);

export const job = () =>
  make(UIDS.job, 'Weft: job', 'A job of Slurm or Kubernetes, as the collectors on its hosts tell.', [
    variable('job_id', 'Job', 'label_values(weft_job_info{instance=~"$instance"}, job_id)'),
    variable('hosts', 'Hosts', 'label_values(weft_job_info{instance=~"$instance", job_id="$job_id"}, node)', { multi: true }),
  ], [
    ['Now', [
      figure({ title: 'Hosts', help: 'That the job holds.', queries: { expr: `count(weft_job_info{${I}, job_id="$job_id"})` } }),
      figure({ title: 'Hosts that are not healthy', help: 'Degraded, unhealthy or unknown.', queries: { expr: `count(weft_node_health{${HOSTS}, verdict!="HEALTHY"}) or vector(0)` }, steps: [[null, 'green'], [1, 'orange']] }),
      figure({ title: 'Incidents that hurt it', help: 'As Weft says.', queries: { expr: `count(weft_incident_job_info{${I}, job_id="$job_id"}) or vector(0)` }, steps: [[null, 'green'], [1, 'red']] }),
      figure({ title: 'Sent by all', help: 'Bits per second of all hosts together.', queries: { expr: `sum(8 * rate(weft_port_transmit_bytes_total{${HOSTS}}[$__rate_interval]))` }, unit: 'bps' }),
      figure({ title: 'Worst stall', help: 'Share of time with data and no credit.', queries: { expr: `max(weft_link_stall_ratio{${HOSTS}})` }, unit: 'percentunit', steps: [[null, 'green'], [0.05, 'yellow'], [0.2, 'red']] }),
      figure({ title: 'RDMA errors', help: 'Of all hosts together.', queries: { expr: orZero(`sum(rate(weft_rdma_errors_total{${HOSTS}}[$__rate_interval]))`, `weft_port_info{${HOSTS}, driver!=""}`) }, unit: 'cps' }),
      rows({ title: 'Incidents that hurt it', help: 'The incident leads to its page in Weft.', queries: { expr: `weft_incident_job_info{${I}, job_id="$job_id"} * ${ON_INCIDENT} group_left (kind, severity, cause, attention, host) weft_incident_info{${I}}` },
             columns: [['incident', 'Incident'], ['severity', 'Severity'], ['kind', 'Kind'], ['cause', 'Cause'], ['attention', 'Attention'], ['host', 'Host']], node: 'host', width: 12 }),
      rows({ title: 'Its hosts', help: 'With their health.', queries: { expr: `weft_node_health{${HOSTS}}` }, columns: [['node', 'Host'], ['verdict', 'Health']], node: 'node', width: 12 }),
    ]],
    ['Side by side', [
      heat({ title: 'Sent by host', help: 'Hosts of one job do the same: a row that is paler than the others is a host that waits or keeps others waiting.', queries: { expr: `${sent} / scalar(max(${sent}))`, legend: '{{host}}' }, max: 1, unit: 'percentunit', height: 9 }),
      graph({ title: 'Sent: most, median, least', help: 'Of the hosts. When they differ, a host lags.', queries: [{ expr: `max(${sent})`, legend: 'most' }, { expr: `quantile(0.5, ${sent})`, legend: 'median' }, { expr: `min(${sent})`, legend: 'least' }], min: 0, unit: 'bps' }),
      graph({ title: 'Stall by host', help: 'Of the port that waits most; the ten worst.', queries: { expr: `topk(10, ${byHost('max', `weft_link_stall_ratio{${HOSTS}}`)})`, legend: '{{host}}' }, min: 0, unit: 'percentunit' }),
      graph({ title: 'RDMA errors by host', help: 'The ten worst.', queries: { expr: `topk(10, sum by (node) (rate(weft_rdma_errors_total{${HOSTS}}[$__rate_interval]))) > 0`, legend: '{{node}}' }, min: 0, unit: 'cps', toNode: true }),
      graph({ title: 'Slowed down by notifications', help: 'Congestion notifications that hosts obeyed.', queries: { expr: `topk(10, sum by (node) (rate(weft_port_cnp_handled_total{${HOSTS}}[$__rate_interval]))) > 0`, legend: '{{node}}' }, min: 0, unit: 'pps', toNode: true }),
    ]],
  ]);
