// SPDX-License-Identifier: Apache-2.0
// Draws the time series panels of one dashboard with Grafana's own components and what Prometheus answers now. The test opens
// it as page.html and calls draw(). Variables are put in by the test; imports, transformations and variables of Grafana are not
// proven by it.

import React from 'react';
import { createRoot } from 'react-dom/client';
import { createTheme, DataFrame, FieldType, getDisplayProcessor, getValueFormats, LoadingState, ThemeContext, toDataFrame } from '@grafana/data';
import { GlobalStyles, LegendDisplayMode, PanelChrome, TimeSeries } from '@grafana/ui';

interface Panel {
  title: string;
  description?: string;
  fieldConfig: { defaults: { unit?: string } & Record<string, unknown>; overrides?: { matcher: { id: string; options: string }; properties: { id: string; value: any }[] }[] };
  options: { legend: object };
  gridPos: { h: number; w: number; x: number; y: number };
  targets: { expr: string; legendFormat?: string; refId: string }[];
}
interface Dashboard {
  title: string;
  panels: Panel[];
}

const theme = createTheme({ colors: { mode: 'dark' } });

const legend = (format: string | undefined, labels: Record<string, string>) =>
  format ? format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name) => labels[name] ?? '').replace(/\s+/g, ' ').trim() : JSON.stringify(labels);

/** A colour of its own, where an override gives one to series of that name. */
function colour(panel: Panel, name: string) {
  const found = panel.fieldConfig.overrides?.find(({ matcher }) => matcher.id === 'byName' && matcher.options === name);
  return found?.properties.find(({ id }) => id === 'color')?.value ?? { mode: 'palette-classic' };
}

async function frames(prometheus: string, panel: Panel, range: [number, number], step: number): Promise<DataFrame[]> {
  const found: DataFrame[] = [];
  for (const target of panel.targets) {
    const asked = new URLSearchParams({ query: target.expr, start: `${range[0]}`, end: `${range[1]}`, step: `${step}` });
    const answer = await (await fetch(`${prometheus}/api/v1/query_range?${asked}`)).json();
    if (answer.status !== 'success') throw new Error(`${panel.title}: ${answer.error}`);
    for (const series of answer.data.result) {
      // Steps without a value are gaps, as Grafana's data source makes them.
      const values = new Map(series.values.map(([at, value]: [number, string]) => [Math.round(at), Number(value)]));
      const times: number[] = [];
      for (let at = Math.round(range[0]); at <= range[1]; at += step) times.push(at);
      const name = legend(target.legendFormat, series.metric);
      found.push(
        toDataFrame({
          refId: target.refId,
          fields: [
            { name: 'Time', type: FieldType.time, values: times.map((at) => at * 1000), config: {} },
            { name: 'Value', type: FieldType.number, labels: series.metric, values: times.map((at) => values.get(at) ?? null),
              config: { ...panel.fieldConfig.defaults, color: colour(panel, name), displayName: name } },
          ],
        })
      );
    }
  }
  found.forEach((frame, position) => {
    for (const field of frame.fields) {
      if (field.type === FieldType.number) field.state = { seriesIndex: position };
      field.display = getDisplayProcessor({ field, theme, timeZone: 'utc' });
    }
  });
  return found;
}

/** Units that Grafana does not know would be shown as text behind the number. */
const UNITS = new Set(getValueFormats().flatMap((group) => group.submenu.map((unit) => unit.value)));

const CELL = { width: 50, height: 34 };

async function draw(dashboard: Dashboard, prometheus: string, range: [number, number], step: number): Promise<number> {
  for (const { title, fieldConfig } of dashboard.panels)
    if (fieldConfig.defaults.unit && !UNITS.has(fieldConfig.defaults.unit)) throw new Error(`${title}: no unit ${fieldConfig.defaults.unit}`);
  const drawn = await Promise.all(dashboard.panels.map(async (panel) => ({ panel, data: await frames(prometheus, panel, range, step) })));
  const timeRange: any = { from: { valueOf: () => range[0] * 1000 }, to: { valueOf: () => range[1] * 1000 }, raw: { from: 'now-1m', to: 'now' } };
  createRoot(document.getElementById('page')!).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <h2 style={{ color: theme.colors.text.primary, fontFamily: 'sans-serif', margin: 8, fontWeight: 500 }}>{dashboard.title}</h2>
      <div style={{ display: 'flex', flexWrap: 'wrap', gap: 8, padding: 8, width: 24 * CELL.width + 24 }}>
        {drawn.map(({ panel, data }) => {
          const width = 12 * CELL.width;
          const height = 8 * CELL.height;
          return (
            <div key={panel.title} style={{ width, height }} data-panel={panel.title}>
              <PanelChrome title={panel.title} description={panel.description} width={width} height={height} loadingState={LoadingState.Done}>
                {(inner, high) =>
                  data.length ? (
                    <TimeSeries width={inner} height={high} frames={data} timeRange={timeRange} timeZone="utc"
                      legend={{ ...panel.options.legend, displayMode: LegendDisplayMode.List, showLegend: true, calcs: [] }} />
                  ) : (
                    <span>No data</span>
                  )
                }
              </PanelChrome>
            </div>
          );
        })}
      </div>
    </ThemeContext.Provider>
  );
  return drawn.filter(({ data }) => data.length > 0).length;
}

document.body.style.background = theme.colors.background.canvas;
document.body.style.margin = '0';
(window as any).draw = draw;
