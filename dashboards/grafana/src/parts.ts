// SPDX-License-Identifier: Apache-2.0
// What all dashboards are put together from: variables, panels, links, annotations.

import { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as bargauge from '@grafana/grafana-foundation-sdk/bargauge';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as table from '@grafana/grafana-foundation-sdk/table';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

export type Panel = Builder<dashboard.Panel>;
type Variable = Builder<dashboard.VariableModel>;

/** The data source that the variable `datasource` names. */
export const SOURCE: common.DataSourceRef = { type: 'prometheus', uid: '${datasource}' };
/** The analyzers that the variable `instance` names: begins the selector of every query. */
export const I = 'instance=~"$instance"';
/** Joins a series of a port with weft_port_info; of a swept port the device is empty on both sides, of a host's the GUID. */
export const ON_PORT = 'on (job, instance, node, guid, device, port)';
export const ON_INCIDENT = 'on (job, instance, incident)';

/** Of a counter that has no series while it never moved: zero, where `witness` selects a series of whoever reads it. */
export const orZero = (expression: string, witness: string) => `${expression} or 0 * count(${witness})`;

/** What Grafana puts in for a variable of nodes of which all are chosen. It matches the empty text too: see allOrChosen(). */
export const ALL = '.*';

/** A metric, or an expression from the selector that it is to use. */
type Source = string | ((selector: string) => string);

/**
 * One query for both choices of a variable of nodes (`allValue` ALL): while all are chosen `of` what a rule recorded of the worst, some hundred series; while some
 * are chosen `of` the series of `raw` of those. No series has the label `weft_all`, so Prometheus reads it as the empty text. ALL matches that and the name of a
 * node does not, so one of the two sides selects nothing.
 */
export function allOrChosen(variable: string, recorded: Source, raw: Source, of: (expression: string) => string = (expression) => expression): string {
  const from = (source: Source, selector: string) => of(typeof source === 'string' ? `${source}{${selector}}` : source(selector));
  return `${from(recorded, `${I}, weft_all=~"$${variable}"`)} or ${from(raw, onlyChosen(variable))}`;
}
/** Selects the nodes that are chosen, and none while all are. */
export const onlyChosen = (variable: string) => `${I}, weft_all!~"$${variable}", node=~"$${variable}"`;

export const TAG = 'weft';
export const UIDS = {
  fabric: 'weft-fabric',
  congestion: 'weft-congestion',
  links: 'weft-links',
  roce: 'weft-roce',
  node: 'weft-node',
  job: 'weft-job',
  self: 'weft-self',
};

// -- variables

export function variable(name: string, label: string, query: string, how: { multi?: boolean; hide?: boolean; all?: string } = {}): Variable {
  const made = new dashboard.QueryVariableBuilder(name)
    .label(label)
    .datasource(SOURCE)
    .query({ query, refId: `${name}Variable` })
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .sort(dashboard.VariableSort.NaturalAsc);
  if (how.multi) made.multi(true).includeAll(true).current({ text: 'All', value: '$__all' });
  // Without it Grafana puts in every name: of a large site a megabyte in each query.
  if (how.all) made.allValue(how.all);
  if (how.hide) made.hide(dashboard.VariableHide.HideVariable);
  return made;
}

/** Those that every dashboard has. `scheme` is how weftd's own page is reached: links to incidents begin with it. */
function commonVariables(): Variable[] {
  return [
    new dashboard.DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
    variable('instance', 'Analyzer', 'label_values(weft_incidents, instance)', { multi: true }),
    new dashboard.CustomVariableBuilder('scheme')
      .values('http,https')
      .current({ text: 'http', value: 'http' })
      .hide(dashboard.VariableHide.HideVariable),
  ];
}

export const SUBNET = () =>
  variable('subnet', 'Subnet', 'label_values(weft_fabric_watching{instance=~"$instance"}, subnet)', { multi: true });

// -- links

/** To another dashboard, with the time range and the analyzer kept. */
function toDashboard(title: string, uid: string, variables: string): Builder<dashboard.DashboardLink> {
  return new dashboard.DashboardLinkBuilder(title)
    .type(dashboard.DashboardLinkType.Link)
    .url(`/d/${uid}?${variables}&\${datasource:queryparam}&\${instance:queryparam}&\${__url_time_range}`);
}

/** From a series or a row with the label `node`. An adapter's name begins with its host's. */
export const TO_NODE = toDashboard('Node ${__field.labels.node}', UIDS.node, 'var-host=${__field.labels.node}');
export const ROW_TO_NODE = (field: string) => ({
  id: 'links',
  value: [{ title: 'Node', url: `/d/${UIDS.node}?var-host=\${__data.fields.${field}}&\${datasource:queryparam}&\${__url_time_range}` }],
});
/** From a row with the columns `incident` and `instance` to the incident on weftd's own page. */
const ROW_TO_INCIDENT = {
  id: 'links',
  value: [
    {
      title: 'Incident ${__data.fields.incident}',
      url: '${scheme}://${__data.fields.instance}/#/incident/${__data.fields.incident}',
      targetBlank: true,
    },
  ],
};

// -- queries and panels

export interface Query {
  expr: string;
  legend?: string;
}
type Queries = Query | Query[];

const list = (queries: Queries): Query[] => (Array.isArray(queries) ? queries : [queries]);
const LETTERS = 'ABCDEFGH';

function target(query: Query, position: number, kind: 'range' | 'instant' | 'table'): prometheus.DataqueryBuilder {
  const made = new prometheus.DataqueryBuilder().refId(LETTERS[position]).datasource(SOURCE).expr(query.expr);
  if (query.legend) made.legendFormat(query.legend);
  if (kind === 'range') return made.range();
  return kind === 'table' ? made.instant().format(prometheus.PromQueryFormat.Table) : made.instant();
}

interface Common {
  title: string;
  help: string;
  queries: Queries;
  unit?: string;
  width?: number; // of 24
  height?: number;
}

function fill<T extends { title(t: string): T; description(d: string): T; datasource(s: common.DataSourceRef): T; span(w: number): T;
                          height(h: number): T; unit(u: string): T; withTarget(t: Builder<prometheus.Dataquery>): T }>(
  panel: T, what: Common, kind: 'range' | 'instant' | 'table', width: number, height: number): T {
  panel.title(what.title).description(what.help).datasource(SOURCE).span(what.width ?? width).height(what.height ?? height);
  if (what.unit) panel.unit(what.unit);
  list(what.queries).forEach((query, position) => panel.withTarget(target(query, position, kind)));
  return panel;
}

export function graph(what: Common & { min?: number; max?: number; log?: boolean; stack?: boolean; bars?: boolean; toNode?: boolean; colours?: Record<string, string> }): Panel {
  const panel = fill(new timeseries.PanelBuilder(), what, 'range', 12, 8)
    .lineWidth(1)
    .fillOpacity(what.stack ? 40 : 8)
    .showPoints(common.VisibilityMode.Auto)
    .legend(new common.VizLegendOptionsBuilder().showLegend(true).displayMode(common.LegendDisplayMode.List).placement(common.LegendPlacement.Bottom).calcs(['lastNotNull', 'max']))
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending));
  if (what.min !== undefined) panel.min(what.min);
  if (what.max !== undefined) panel.max(what.max);
  // Where all is zero the axis should not say 100.
  else if (what.unit === 'percentunit') panel.axisSoftMax(0.1);
  else if (['short', 'cps', 'pps'].includes(what.unit ?? '')) panel.axisSoftMax(1);
  if (what.log) panel.scaleDistribution(new common.ScaleDistributionConfigBuilder().type(common.ScaleDistribution.Log).log(10));
  if (what.stack) panel.stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal).group('A'));
  if (what.bars) panel.drawStyle(common.GraphDrawStyle.Bars);
  if (what.toNode) panel.dataLinks([TO_NODE]);
  for (const [name, fixedColor] of Object.entries(what.colours ?? {})) panel.overrideByName(name, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]);
  return panel;
}

/** Colours from which value on; the first is that of everything below. */
export type Steps = [number | null, string][];
export const GOOD_IS_ZERO: Steps = [[null, 'green'], [1, 'red']];
export const WARN_ABOVE_ZERO: Steps = [[null, 'green'], [1, 'orange']];
export const STALL: Steps = [[null, 'green'], [0.05, 'yellow'], [0.2, 'orange'], [0.5, 'red']];
const NEUTRAL: Steps = [[null, 'blue']];

const thresholds = (steps: Steps) =>
  new dashboard.ThresholdsConfigBuilder().mode(dashboard.ThresholdsMode.Absolute).steps(steps.map(([value, color]) => ({ value, color })));

export function figure(what: Common & { steps?: Steps; name?: boolean; to?: string; mappings?: dashboard.ValueMapping[] }): Panel {
  const panel = fill(new stat.PanelBuilder(), what, 'instant', 4, 4)
    .thresholds(thresholds(what.steps ?? NEUTRAL))
    .colorMode(common.BigValueColorMode.Background)
    .graphMode(common.BigValueGraphMode.None)
    .textMode(what.name ? common.BigValueTextMode.Name : common.BigValueTextMode.Auto)
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false));
  if (what.mappings) panel.mappings(what.mappings);
  if (what.to) panel.dataLinks([toDashboard('More', what.to, '')]);
  return panel;
}

export function ranking(what: Common & { steps?: Steps; max?: number }): Panel {
  const panel = fill(new bargauge.PanelBuilder(), what, 'instant', 12, 8)
    .thresholds(thresholds(what.steps ?? NEUTRAL))
    .displayMode(common.BarGaugeDisplayMode.Basic)
    .orientation(common.VizOrientation.Horizontal)
    .min(0)
    .dataLinks([TO_NODE]);
  if (what.max !== undefined) panel.max(what.max);
  return panel;
}

/** A row for each series, time along the bottom, the value as colour from 0 to `max`. */
export function heat(what: Common & { max: number }): Panel {
  return fill(new heatmap.PanelBuilder(), what, 'range', 24, 12)
    .calculate(false)
    .color(new heatmap.HeatmapColorOptionsBuilder().mode(heatmap.HeatmapColorMode.Scheme).scheme('RdYlGn').reverse(true).fill('dark-orange').exponent(0.5).steps(64).min(0).max(what.max))
    .rowsFrame(new heatmap.RowsHeatmapOptionsBuilder().layout(common.HeatmapCellLayout.Auto).value(what.title))
    .yAxis(new heatmap.YAxisConfigBuilder().axisPlacement(common.AxisPlacement.Left).unit('short'))
    .cellValues(new heatmap.CellValuesBuilder().unit(what.unit ?? 'short'))
    .cellGap(1)
    .tooltip(new heatmap.HeatmapTooltipBuilder().mode(common.TooltipDisplayMode.Single))
    .showLegend();
}

export function states(what: Common & { mappings: dashboard.ValueMapping[] }): Panel {
  return fill(new statetimeline.PanelBuilder(), what, 'range', 24, 8)
    .mappings(what.mappings)
    .thresholds(thresholds([[null, 'red'], [1, 'green']]))
    .mergeValues(true)
    .showValue(common.VisibilityMode.Never)
    .rowHeight(0.8)
    .fillOpacity(80)
    .dataLinks([TO_NODE]);
}

export const mapped = (options: Record<string, { text: string; color?: string }>): dashboard.ValueMapping[] =>
  [{ type: dashboard.MappingType.ValueToText, options }] as unknown as dashboard.ValueMapping[];

/** `columns`: label or "Value", and its heading, in their order; all other columns are hidden. */
export function rows(what: Common & { columns: [string, string][]; valueUnit?: string; valueSteps?: Steps; node?: string; sortBy?: string }): Panel {
  const panel = fill(new table.PanelBuilder(), what, 'table', 24, 9)
    .cellOptions({ type: common.TableCellDisplayMode.Auto } as common.TableCellOptions)
    .withTransformation({ id: 'organize', options: {
      indexByName: Object.fromEntries(what.columns.map(([name], position) => [name, position])),
      includeByName: Object.fromEntries([...what.columns.map(([name]) => name), 'instance'].map((name) => [name, true])),
      excludeByName: {},
      renameByName: Object.fromEntries(what.columns.filter(([name]) => name !== 'incident').map(([name, heading]) => [name, heading])),
    } });
  const named = Object.fromEntries(what.columns);
  if (named.incident) panel.overrideByName('incident', [ROW_TO_INCIDENT]);
  panel.overrideByName('instance', [{ id: 'custom.hidden', value: true }]);
  if (what.node && named[what.node]) panel.overrideByName(named[what.node], [ROW_TO_NODE(`["${named[what.node]}"]`)]);
  if (named.Value && what.valueUnit)
    panel.overrideByName(named.Value, [
      { id: 'unit', value: what.valueUnit },
      ...(what.valueSteps ? [
        { id: 'custom.cellOptions', value: { type: 'color-background' } },
        { id: 'thresholds', value: { mode: 'absolute', steps: what.valueSteps.map(([value, color]) => ({ value, color })) } },
      ] : []),
    ]);
  if (named.severity)
    panel.overrideByName(named.severity, [
      { id: 'custom.cellOptions', value: { type: 'color-text' } },
      { id: 'mappings', value: mapped({ CRITICAL: { text: 'CRITICAL', color: 'red' }, WARNING: { text: 'WARNING', color: 'orange' }, INFO: { text: 'INFO', color: 'blue' } }) },
    ]);
  if (what.sortBy) panel.sortBy([new common.TableSortByFieldStateBuilder().displayName(what.sortBy).desc(true)]);
  return panel;
}

/** One row for each `row`, one column for each `column`, the value as colour. */
export function matrix(what: Common & { row: string; column: string; steps: Steps }): Panel {
  return fill(new table.PanelBuilder(), what, 'table', 24, 10)
    .thresholds(thresholds(what.steps))
    .min(0)
    .max(1)
    .cellOptions({ type: common.TableCellDisplayMode.ColorBackground, mode: common.TableCellBackgroundDisplayMode.Basic } as common.TableCellOptions)
    .withTransformation({ id: 'groupingToMatrix', options: { columnField: what.column, rowField: what.row, valueField: 'Value', emptyValue: 'null' } })
    .overrideByName(`${what.row}\\${what.column}`, [{ id: 'custom.cellOptions', value: { type: 'auto' } }, ROW_TO_NODE(`["${what.row}\\\\${what.column}"]`)]);
}

/** Open incidents with what is known of each; the value is how long it has been open. */
export function incidents(title: string, help: string, selector: string, more: { width?: number; joined?: string } = {}): Panel {
  const info = `weft_incident_info{${I}${selector ? `, ${selector}` : ''}}`;
  return rows({
    title,
    help,
    queries: { expr: `(time() - weft_incident_opened_timestamp_seconds{${I}}) * ${ON_INCIDENT} group_left (kind, severity, attention, subnet, cause, node, host) ${info}${more.joined ?? ''}` },
    columns: [['incident', 'Incident'], ['severity', 'Severity'], ['kind', 'Kind'], ['cause', 'Cause'], ['attention', 'Attention'], ['subnet', 'Subnet'], ['host', 'Host'], ['Value', 'Open for']],
    valueUnit: 's',
    node: 'host',
    width: more.width,
  });
}

// -- a whole dashboard

const annotation = () =>
  new dashboard.AnnotationQueryBuilder()
    .name('Incidents')
    .datasource(SOURCE)
    .enable(true)
    .iconColor('red')
    .target(new prometheus.DataqueryBuilder().refId('Incidents').expr(`weft_incident_info{${I}, severity=~"CRITICAL|WARNING"}`).interval('15s'))
    .titleFormat('{{incident}} {{kind}}')
    .textFormat('{{cause}}')
    .tagKeys('severity,kind,subnet');

export function make(uid: string, title: string, description: string, variables: Variable[], sections: [string, Panel[]][]): dashboard.Dashboard {
  const made = new dashboard.DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .timezone('browser')
    .editable()
    .refresh('15s')
    .time({ from: 'now-1h', to: 'now' })
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .annotation(annotation())
    .link(new dashboard.DashboardLinkBuilder('Weft').type(dashboard.DashboardLinkType.Dashboards).tags([TAG]).asDropdown(true).keepTime(true).includeVars(true));
  for (const one of [...commonVariables(), ...variables]) made.withVariable(one);
  for (const [heading, panels] of sections) {
    made.withRow(new dashboard.RowBuilder(heading));
    for (const panel of panels) made.withPanel(panel);
  }
  const built = made.build();
  // The SDK still gives tables a footer option that Grafana's own types no longer have.
  // It gives every variable what only those of intervals have, too.
  for (const one of built.templating?.list ?? []) for (const name of ['auto', 'auto_min', 'auto_count']) delete (one as unknown as Record<string, unknown>)[name];
  built.panels?.forEach((panel, position) => { panel.id = position + 1; });
  for (const panel of built.panels ?? []) if (panel.type === 'table') delete (panel as dashboard.Panel).options.footer;
  return built;
}
