// SPDX-License-Identifier: Apache-2.0
// What Grafana says its dashboards are, from the types that it publishes (@grafana/schema; queries from its Foundation SDK).
// validate.mjs makes a JSON Schema of each type that is exported here.

import type * as common from './node_modules/@grafana/schema/dist/types/common/common.gen';
import type * as bargauge from './node_modules/@grafana/schema/dist/types/raw/composable/bargauge/panelcfg/x/types.gen';
import type * as heatmap from './node_modules/@grafana/schema/dist/types/raw/composable/heatmap/panelcfg/x/types.gen';
import type * as stat from './node_modules/@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen';
import type * as statetimeline from './node_modules/@grafana/schema/dist/types/raw/composable/statetimeline/panelcfg/x/types.gen';
import type * as table from './node_modules/@grafana/schema/dist/types/raw/composable/table/panelcfg/x/types.gen';
import type * as timeseries from './node_modules/@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen';
import type { Dashboard } from './node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen';
import type { Dataquery } from './node_modules/@grafana/grafana-foundation-sdk/dist/prometheus/types.gen';

export type dashboard = Dashboard;
export type query = Omit<Dataquery, '_implementsDataqueryVariant'>;
// Options of a panel, by its type, and the part of its field configuration that is its own.
export type timeseriesOptions = timeseries.Options;
export type timeseriesFields = timeseries.FieldConfig;
export type statOptions = stat.Options;
export type bargaugeOptions = bargauge.Options;
export type heatmapOptions = heatmap.Options;
export type heatmapFields = heatmap.FieldConfig;
export type tableOptions = table.Options;
export type tableFields = common.TableFieldOptions;
export type statetimelineOptions = statetimeline.Options;
export type statetimelineFields = statetimeline.FieldConfig;
