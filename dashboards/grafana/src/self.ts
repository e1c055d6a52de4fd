// SPDX-License-Identifier: Apache-2.0
// Does Weft itself do its work?

import { GOOD_IS_ZERO, I, UIDS, WARN_ABOVE_ZERO, figure, graph, make } from './parts.ts';

const each = (metric: string) => `rate(${metric}{${I}}[$__rate_interval])`;

export const self = () =>
  make(UIDS.self, 'Weft: itself', 'Sweeps, streams of collectors, store and threads of weftd.', [], [
    ['Now', [
      figure({ title: 'Analyzers that do not answer', help: 'Scrapes of job weft that fail.', queries: { expr: `count(up{job="weft", ${I}} == 0) or vector(0)` }, steps: GOOD_IS_ZERO }),
      figure({ title: 'Subnets not swept', help: 'Subnets that weftd cannot reach: adapter, port or subnet manager.', queries: { expr: `count(weft_fabric_watching{${I}} == 0) or vector(0)` }, steps: GOOD_IS_ZERO }),
      figure({ title: 'Age of the oldest sweep', help: 'Since the last sweep of a subnet ended.', queries: { expr: `max(time() - weft_sweep_finished_timestamp_seconds{${I}})` }, unit: 's', steps: [[null, 'green'], [10, 'orange'], [60, 'red']] }),
      figure({ title: 'Stores with write errors', help: 'Incidents and history cannot be written to disk.', queries: { expr: `count(weft_store_ok{${I}} == 0) or vector(0)` }, steps: GOOD_IS_ZERO }),
      figure({ title: 'Ports with old readings', help: 'Share of all ports.', queries: { expr: `max(weft:ports_stale:ratio{${I}})` }, unit: 'percentunit', steps: [[null, 'green'], [0.01, 'orange'], [0.1, 'red']] }),
      figure({ title: 'Circuit breakers tripped', help: 'Nothing is taken out of service any more until a person resets it.', queries: { expr: `sum(weft_breaker_tripped{${I}})` }, steps: WARN_ABOVE_ZERO }),
    ]],
    ['Sweeps', [
      graph({ title: 'Time that a sweep takes', help: 'With the interval that it has.', queries: [{ expr: `weft_sweep_duration_seconds{${I}}`, legend: '{{subnet}}' }, { expr: `weft_sweep_interval_seconds{${I}}`, legend: '{{subnet}} interval' }], min: 0, unit: 's' }),
      graph({ title: 'Requests', help: 'Management datagrams by how they ended.', queries: { expr: `sum by (subnet, result) (${each('weft_sweep_requests_total')}) > 0`, legend: '{{subnet}} {{result}}' }, min: 0, unit: 'reqps' }),
      graph({ title: 'Unanswered requests', help: 'Share over five minutes.', queries: { expr: `weft:sweep_requests_unanswered:ratio5m{${I}}`, legend: '{{subnet}}' }, min: 0, unit: 'percentunit' }),
      graph({ title: 'Skipped nodes, request window', help: 'Nodes left out of a sweep because they did not answer before; requests kept outstanding at once.', queries: [{ expr: `weft_sweep_nodes_backed_off{${I}}`, legend: '{{subnet}} nodes left alone' }, { expr: `weft_sweep_window{${I}}`, legend: '{{subnet}} window' }], min: 0, unit: 'short' }),
      graph({ title: 'Sweeper restarts, skipped sweeps', help: 'A sweeper that ends is restarted. A sweep is skipped when a newer one arrives before it was analysed.', queries: [{ expr: `increase(weft_sweeper_restarts_total{${I}}[$__rate_interval])`, legend: '{{subnet}} restarts' }, { expr: `increase(weft_sweeps_skipped_total{${I}}[$__rate_interval])`, legend: '{{subnet}} skipped' }], min: 0, unit: 'short' }),
      graph({ title: 'Time that an analysis takes', help: 'Of the last sweep.', queries: { expr: `weft_analysis_duration_seconds{${I}}`, legend: '{{subnet}}' }, min: 0, unit: 's' }),
    ]],
    ['Collectors', [
      graph({ title: 'Collectors by state', help: 'Hosts that ever had one.', queries: { expr: `sum by (state) (weft_collectors{${I}})`, legend: '{{state}}' }, colours: { connected: 'green', silent: 'orange', disconnected: 'red' }, stack: true, min: 0, unit: 'short' }),
      graph({ title: 'Batches', help: 'Accepted; late ones waited in a spool; lost ones never arrived.', queries: [{ expr: `sum(${each('weft_collector_batches_total')})`, legend: 'taken' }, { expr: `sum(${each('weft_collector_late_batches_total')})`, legend: 'late' }, { expr: `sum(${each('weft_collector_lost_batches_total')})`, legend: 'lost' }, { expr: `sum(${each('weft_collector_batches_duplicate_total')})`, legend: 'taken before' }], min: 0, unit: 'cps' }),
      graph({ title: 'Streams', help: 'Open, and messages that wait to be looked at.', queries: [{ expr: `sum(weft_collector_streams{${I}})`, legend: 'open' }, { expr: `sum(weft_collector_batches_waiting{${I}})`, legend: 'messages that wait' }], min: 0, unit: 'short' }),
      graph({ title: 'Slowed down or ended', help: 'Streams beyond their rate wait; those that break the rules are ended.', queries: [{ expr: `sum by (reason) (${each('weft_collector_batches_throttled_total')})`, legend: 'throttled: {{reason}}' }, { expr: `sum(${each('weft_collector_streams_refused_total')})`, legend: 'ended' }], min: 0, unit: 'cps' }),
      graph({ title: 'Clocks of hosts', help: 'Our clock minus theirs, the ten that differ most.', queries: { expr: `topk(10, abs(weft_collector_clock_offset_seconds{${I}}))`, legend: '{{node}}' }, min: 0, unit: 's', toNode: true }),
    ]],
    ['Store and threads', [
      graph({ title: 'History', help: 'Moments of port history written, and those that were not.', queries: [{ expr: `sum(${each('weft_store_history_written_total')})`, legend: 'written' }, { expr: `sum(${each('weft_store_history_dropped_total')})`, legend: 'dropped' }], min: 0, unit: 'cps' }),
      graph({ title: 'Size of the port history', help: 'On disk.', queries: { expr: `weft_store_history_bytes{${I}}`, legend: '{{instance}}' }, min: 0, unit: 'bytes' }),
      graph({ title: 'Incidents not on disk yet', help: 'They are kept in memory until the store accepts them.', queries: { expr: `weft_store_incidents_waiting{${I}}`, legend: '{{instance}}' }, min: 0, unit: 'short' }),
      graph({ title: 'Busy threads', help: 'Share of time in jobs.', queries: { expr: `sum by (lane) (${each('weft_lane_busy_seconds_total')})`, legend: '{{lane}}' }, min: 0, unit: 'percentunit' }),
      graph({ title: 'Jobs that wait', help: 'For each thread.', queries: { expr: `sum by (lane) (weft_lane_queue_depth{${I}})`, legend: '{{lane}}' }, min: 0, unit: 'short' }),
      graph({ title: 'Webhook deliveries', help: 'Events that each receiver accepted, and failed attempts.', queries: [{ expr: `increase(weft_events_delivered_total{${I}}[$__rate_interval])`, legend: '{{receiver}} taken' }, { expr: `increase(weft_events_failed_total{${I}}[$__rate_interval])`, legend: '{{receiver}} failed' }], bars: true, min: 0, unit: 'short' }),
      graph({ title: 'Incidents not yet delivered by webhook', help: 'They are sent again until the receiver accepts them.', queries: { expr: `weft_events_waiting{${I}}`, legend: '{{receiver}}' }, min: 0, unit: 'short' }),
      graph({ title: 'Scrapes', help: 'Time that one takes, as Prometheus says.', queries: { expr: `scrape_duration_seconds{job="weft", ${I}}`, legend: '{{instance}}' }, min: 0, unit: 's' }),
      graph({ title: 'Series', help: 'Samples of one scrape.', queries: { expr: `scrape_samples_scraped{job="weft", ${I}}`, legend: '{{instance}}' }, min: 0, unit: 'short' }),
      graph({ title: 'Actions of remedies', help: 'Plans that ended.', queries: { expr: `sum by (action, result) (increase(weft_actions_total{${I}}[$__rate_interval])) > 0`, legend: '{{action}} {{result}}' }, bars: true, min: 0, unit: 'short' }),
    ]],
  ]);
