// SPDX-License-Identifier: Apache-2.0
// Is the fabric well? The first one to look at.

import { GOOD_IS_ZERO, I, SUBNET, UIDS, WARN_ABOVE_ZERO, figure, graph, incidents, make, ranking, STALL } from './parts.ts';

const S = `${I}, subnet=~"$subnet"`;

export const fabric = () =>
  make(UIDS.fabric, 'Weft: fabric', 'The whole fabric at a glance: what is wrong now, who deals with it, and what led to it.', [SUBNET()], [
    ['Now', [
      figure({ title: 'Critical, unattended', help: 'Critical incidents that nobody acknowledged, silenced or planned.', queries: { expr: `sum(weft_incidents_unattended{${I}, severity="CRITICAL"})` }, steps: GOOD_IS_ZERO }),
      figure({ title: 'Warnings, unattended', help: 'The same of warnings.', queries: { expr: `sum(weft_incidents_unattended{${I}, severity="WARNING"})` }, steps: WARN_ABOVE_ZERO }),
      figure({ title: 'Links down', help: 'Cables seen before of which an end is not active.', queries: { expr: `sum(weft_fabric_links{${S}, state="down"})` }, steps: WARN_ABOVE_ZERO, to: UIDS.links }),
      figure({ title: 'Unreachable nodes', help: 'Nodes that did not answer the last sweep that asked them.', queries: { expr: `sum(weft_fabric_unreachable_nodes{${S}})` }, steps: WARN_ABOVE_ZERO }),
      figure({ title: 'Unhealthy hosts', help: 'Hosts and switches on which no job should be placed.', queries: { expr: `count(weft_node_health{${I}, verdict="UNHEALTHY"}) or vector(0)` }, steps: GOOD_IS_ZERO }),
      figure({ title: 'Subnets not swept', help: 'Subnets that weftd cannot reach: adapter, port or subnet manager.', queries: { expr: `count(weft_fabric_watching{${S}} == 0) or vector(0)` }, steps: GOOD_IS_ZERO, to: UIDS.self }),
      incidents('Open incidents', 'The incident leads to its page in Weft, the host to its dashboard.', ''),
    ]],
    ['What led to it', [
      graph({ title: 'Open incidents by kind', help: 'Not resolved, whoever deals with them.', queries: { expr: `sum by (kind) (weft_incidents{${I}}) > 0`, legend: '{{kind}}' }, stack: true, min: 0, unit: 'short' }),
      graph({ title: 'Incidents opened', help: 'Opened or opened again.', queries: { expr: `sum by (kind) (increase(weft_incidents_opened_total{${I}}[$__rate_interval])) > 0`, legend: '{{kind}}' }, bars: true, stack: true, min: 0, unit: 'short' }),
      graph({ title: 'Health of hosts and switches', help: 'How many have which verdict. No data is UNKNOWN.', queries: { expr: `count by (verdict) (weft_node_health{${I}})`, legend: '{{verdict}}' }, colours: { HEALTHY: 'green', DEGRADED: 'orange', UNHEALTHY: 'red', UNKNOWN: 'gray' }, stack: true, min: 0, unit: 'short' }),
      graph({ title: 'Ports by state', help: 'External ports of the subnets, by logical state.', queries: { expr: `sum by (state) (weft_fabric_ports{${S}})`, legend: '{{state}}' }, colours: { active: 'green', armed: 'yellow', initialize: 'orange', down: 'red', unknown: 'gray' }, stack: true, min: 0, unit: 'short' }),
      graph({ title: 'Links down', help: 'As a share of all cables seen now or before.', queries: { expr: `weft:fabric_links_down:ratio{${S}}`, legend: '{{subnet}}' }, min: 0, unit: 'percentunit' }),
      graph({ title: 'Nodes', help: 'As last seen, by type.', queries: { expr: `sum by (type) (weft_fabric_nodes{${S}}) > 0`, legend: '{{type}}' }, min: 0, unit: 'short' }),
    ]],
    ['Load', [
      graph({ title: 'Utilisation of links', help: 'The busier direction as a share of the active rate: mean of all links, and the busiest.', queries: [{ expr: `avg(weft:link_utilization:avg{${I}})`, legend: 'mean' }, { expr: `max(weft:link_utilization:max{${I}})`, legend: 'busiest' }], min: 0, max: 1, unit: 'percentunit' }),
      graph({ title: 'Stall of links', help: 'Share of time with data to send and no credit: mean of all links, and the worst.', queries: [{ expr: `avg(weft:link_stall:avg{${I}})`, legend: 'mean' }, { expr: `max(weft:link_stall:max{${I}})`, legend: 'worst' }], min: 0, unit: 'percentunit' }),
      ranking({ title: 'Busiest nodes', help: 'By the busiest of their links.', queries: { expr: `topk(10, weft:node_utilization:max{${I}})`, legend: '{{node}}' }, max: 1, unit: 'percentunit' }),
      ranking({ title: 'Most stalled nodes', help: 'By the link that waits most.', queries: { expr: `topk(10, weft:node_stall:max{${I}})`, legend: '{{node}}' }, max: 1, unit: 'percentunit', steps: STALL }),
    ]],
    ['Remedies', [
      graph({ title: 'Plans that are not over', help: 'What Weft proposes and does.', queries: { expr: `sum by (action, state) (weft_plans{${I}}) > 0`, legend: '{{action}} {{state}}' }, stack: true, min: 0, unit: 'short' }),
      graph({ title: 'Out of service by Weft', help: 'Links and hosts that its plans hold out of service, and actions begun within the last hour.', queries: [{ expr: `sum(weft_remedy_out_of_service{${I}})`, legend: 'out of service' }, { expr: `sum(weft_remedy_actions_last_hour{${I}})`, legend: 'actions, last hour' }], min: 0, unit: 'short' }),
    ]],
  ]);
