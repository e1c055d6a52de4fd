// SPDX-License-Identifier: Apache-2.0
// Cables, and what they carry their bits with.

import { ALL, I, ON_PORT, SUBNET, UIDS, WARN_ABOVE_ZERO, allOrChosen, figure, graph, incidents, make, mapped, onlyChosen, ranking, rows, states, variable } from './parts.ts';

const AT = `${I}, node=~"$node"`;
const rate = (metric: string) => `topk(10, rate(${metric}{${AT}}[$__rate_interval])) > 0`;
const PORT = '{{node}} {{device}} port {{port}}';
const open = (kind: string) => ({ expr: `sum(weft_incidents{${I}, kind="${kind}"})` });
/** What a rule recorded of all nodes, or each series of the chosen ones. */
const choice = (recorded: string, raw: Parameters<typeof allOrChosen>[2]) => allOrChosen('node', recorded, raw);
const per = (how: 'rate' | 'increase', metric: string) => (selector: string) => `${how}(${metric}{${selector}}[$__rate_interval])`;
/** dBm of a metric in watts; a dark receiver has none. */
const leastPower = (direction: string) =>
  `10 * log10(1000 * bottomk(10, ${choice(`weft:module_${direction}_power:least`, (selector) => `weft_port_module_${direction}_power_watts{${selector}} > 0`)}))`;
const IF_ALL = 'Of all nodes: the hundred worst of each minute, as recording rules keep them; a line has a gap where its port was not among them.';
/** Ports of which the range has both states. */
const wentDown = allOrChosen('node',
  (selector) => `weft:port_up:changed6h{${selector}} and ${ON_PORT} count_over_time(weft:port_up:delta2m{${selector}}[$__range] @ end())`,
  (selector) => `weft_port_up{${selector}} and ${ON_PORT} (min_over_time(weft_port_up{${selector}}[$__range] @ end()) == 0) and ${ON_PORT} (max_over_time(weft_port_up{${selector}}[$__range] @ end()) == 1)`);

export const links = () =>
  make(UIDS.links, 'Weft: links', 'Links that are down, flap, take errors or fade. Of all nodes many panels show what the recording rules of weft.rules.yml keep: without those rules choose nodes.', [
    SUBNET(),
    variable('node', 'Node', 'label_values(weft_port_info{instance=~"$instance"}, node)', { multi: true, all: ALL }),
  ], [
    ['Now', [
      figure({ title: 'Down', help: 'Open incidents LINK_DOWN.', queries: open('LINK_DOWN'), steps: WARN_ABOVE_ZERO }),
      figure({ title: 'Flapping', help: 'Open incidents LINK_FLAP.', queries: open('LINK_FLAP'), steps: WARN_ABOVE_ZERO }),
      figure({ title: 'With errors', help: 'Open incidents LINK_ERRORS.', queries: open('LINK_ERRORS'), steps: WARN_ABOVE_ZERO }),
      figure({ title: 'Degraded', help: 'Open incidents LINK_DEGRADED: narrower or slower than both ends can, or fading.', queries: open('LINK_DEGRADED'), steps: WARN_ABOVE_ZERO }),
      figure({ title: 'Miscabled', help: 'Open incidents MISCABLED.', queries: open('MISCABLED'), steps: WARN_ABOVE_ZERO }),
      figure({ title: 'Silent loss', help: 'Open incidents SILENT_LOSS: retransmits without drop counters.', queries: open('SILENT_LOSS'), steps: WARN_ABOVE_ZERO }),
      incidents('Open incidents of links', 'The incident leads to its page in Weft.', 'entity=~"link|port|host_port"'),
    ]],
    ['Flaps', [
      states({ title: 'Ports that were down for a while', help: 'Of those that were up at some time of the range. Of all nodes: at most two hundred ports, as recording rules keep them, from a change of their state until six hours after the last.', queries: { expr: wentDown, legend: PORT }, mappings: mapped({ '0': { text: 'down', color: 'red' }, '1': { text: 'up', color: 'green' } }) }),
      graph({ title: 'Times that links went down', help: `As ports count: between two readings too. ${IF_ALL} Then each is of five minutes.`, queries: { expr: `topk(10, ${choice('weft:port_link_downed:worst', per('increase', 'weft_port_link_downed_total'))}) > 0`, legend: PORT }, bars: true, min: 0, unit: 'short', toNode: true }),
      graph({ title: 'Recoveries', help: `Times that links retrained. ${IF_ALL} Then each is of five minutes.`, queries: { expr: `topk(10, ${choice('weft:port_link_error_recovery:worst', per('increase', 'weft_port_link_error_recovery_total'))}) > 0`, legend: PORT }, bars: true, min: 0, unit: 'short', toNode: true }),
      graph({ title: 'Carriers lost by hosts', help: 'As the kernel of the host counts.', queries: { expr: `topk(10, increase(weft_port_carrier_down_total{${AT}}[$__rate_interval])) > 0`, legend: PORT }, bars: true, min: 0, unit: 'short', toNode: true }),
      graph({ title: 'Physical link downs of hosts', help: 'As the adapter counts.', queries: { expr: `topk(10, increase(weft_port_link_down_events_total{${AT}}[$__rate_interval])) > 0`, legend: PORT }, bars: true, min: 0, unit: 'short', toNode: true }),
    ]],
    ['Errors', [
      graph({ title: 'Symbol errors', help: `Minor errors on the lanes. ${IF_ALL}`, queries: { expr: `topk(10, ${choice('weft:port_symbol_errors:worst', per('rate', 'weft_port_symbol_errors_total'))}) > 0`, legend: PORT }, min: 0, unit: 'cps', toNode: true }),
      graph({ title: 'Receive errors', help: `Packets received with an error. ${IF_ALL}`, queries: { expr: `topk(10, ${choice('weft:port_receive_errors:worst', (selector) => `max without (source) (${per('rate', 'weft_port_receive_errors_total')(selector)})`)}) > 0`, legend: PORT }, min: 0, unit: 'pps', toNode: true }),
      graph({ title: 'Bit errors', help: `Errors per bit over the error window, as LINK_ERRORS judges them; a logarithmic scale. ${IF_ALL}`, queries: { expr: `topk(10, ${choice('weft:link_error_rate:worst', 'weft_link_error_rate')}) > 0`, legend: PORT }, log: true, unit: 'sci', toNode: true }),
      graph({ title: 'Frames with a bad check sequence, at hosts', help: 'CRC errors of Ethernet ports.', queries: { expr: rate('weft_port_crc_errors_total'), legend: PORT }, min: 0, unit: 'cps', toNode: true }),
      graph({ title: 'Uncorrectable FEC blocks', help: 'Each one is lost data.', queries: [
        { expr: `topk(10, sum by (node, device, port) (rate(weft_port_fec_uncorrectable_blocks_total{${AT}}[$__rate_interval]))) > 0`, legend: PORT },
        { expr: rate('weft_port_rs_fec_uncorrectable_blocks_total'), legend: `${PORT} (RS)` }], min: 0, unit: 'cps', toNode: true }),
      graph({ title: 'Corrected FEC blocks', help: `Normal with PAM4; watch the trend. ${IF_ALL}`, queries: [
        { expr: `topk(10, ${choice('weft:port_fec_corrected_blocks:worst', per('rate', 'weft_port_fec_corrected_blocks_total'))}) > 0`, legend: PORT },
        { expr: `topk(10, ${choice('weft:port_rs_fec_correctable_blocks:worst', per('rate', 'weft_port_rs_fec_correctable_blocks_total'))}) > 0`, legend: `${PORT} (RS)` }], min: 0, unit: 'cps', toNode: true }),
    ]],
    ['Optics', [
      graph({ title: 'Received optical power', help: `The ten lanes with the least. Below the module's limit the link has errors; a slow decrease is dirt or age. ${IF_ALL}`, queries: { expr: leastPower('receive'), legend: `${PORT} lane {{lane}}` }, unit: 'dBm', toNode: true }),
      graph({ title: 'Transmitted optical power', help: `The ten lanes with the least. ${IF_ALL}`, queries: { expr: leastPower('transmit'), legend: `${PORT} lane {{lane}}` }, unit: 'dBm', toNode: true }),
      graph({ title: 'Laser bias current', help: `A laser that ages needs more. ${IF_ALL}`, queries: { expr: `topk(10, ${choice('weft:module_bias:worst', 'weft_port_module_bias_amperes')})`, legend: `${PORT} lane {{lane}}` }, min: 0, unit: 'amp', toNode: true }),
      graph({ title: 'Temperature of modules', help: `The ten hottest. ${IF_ALL}`, queries: { expr: `topk(10, ${choice('weft:module_temperature:worst', 'weft_port_module_temperature_celsius')})`, legend: PORT }, unit: 'celsius', toNode: true }),
      ranking({ title: 'Supply voltage of modules', help: 'The ten lowest.', queries: { expr: `bottomk(10, ${choice('weft:module_supply:least', 'weft_port_module_supply_volts')})`, legend: PORT }, unit: 'volt' }),
      rows({ title: 'Ports and their cables', help: 'What is at both ends; the value is the active rate. Only of nodes that are chosen: all are too many rows.', queries: { expr: `8 * weft_port_rate_bytes_per_second{${onlyChosen('node')}} * ${ON_PORT} group_left (peer_node, peer_port, subnet, link_layer, host) weft_port_info{${onlyChosen('node')}}` },
             columns: [['node', 'Node'], ['device', 'Device'], ['port', 'Port'], ['peer_node', 'Other end'], ['peer_port', 'Its port'], ['subnet', 'Subnet'], ['link_layer', 'Link layer'], ['host', 'Host'], ['Value', 'Rate']], valueUnit: 'bps', node: 'host', width: 12, height: 8 }),
    ]],
  ]);
