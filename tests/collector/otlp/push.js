// SPDX-License-Identifier: Apache-2.0
// A switch that pushes metrics by OpenTelemetry's own exporter: push.js NODE_MODULES ENDPOINT. Each line of the standard
// input is {"resource": {…}, "token": "…", "temporality": "delta"} at first, then {"metrics": [{"name", "kind": "counter" or
// "gauge", "attributes": {…}, "value"}]}; each is answered by a line {"error": …} when it was pushed, or was not. The value of
// a counter is what it grew to; a gauge's is what it is.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [modules, endpoint] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { diag, DiagLogLevel } = require('@opentelemetry/api');
const { OTLPMetricExporter } = require('@opentelemetry/exporter-metrics-otlp-grpc');
const { resourceFromAttributes } = require('@opentelemetry/resources');
const { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } = require('@opentelemetry/sdk-metrics');
const { Metadata } = require('@grpc/grpc-js');

const told = [];
const note = (...words) => told.push(words.map(String).join(' '));
diag.setLogger({ error: note, warn: note, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);

function begin({ resource, token, temporality }) {
  const metadata = new Metadata();
  if (token) metadata.set('authorization', `Bearer ${token}`);
  const exporter = new OTLPMetricExporter({
    url: `http://${endpoint}`, metadata, timeoutMillis: 10000,
    temporalityPreference: temporality === 'delta' ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
  });
  const results = [];
  const send = exporter.export.bind(exporter);
  exporter.export = (metrics, done) => send(metrics, (result) => { results.push(result); done(result); });
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3600_000, exportTimeoutMillis: 15_000 });
  const meter = new MeterProvider({ resource: resourceFromAttributes(resource), readers: [reader] }).getMeter('switch');
  const instruments = new Map();
  const grown = new Map();
  return async ({ metrics }) => {
    for (const { name, kind, attributes, value } of metrics) {
      if (!instruments.has(name)) instruments.set(name, kind === 'counter' ? meter.createCounter(name) : meter.createGauge(name));
      const key = `${name} ${JSON.stringify(attributes)}`;
      if (kind === 'counter') instruments.get(name).add(value - (grown.get(key) ?? 0), attributes);
      else instruments.get(name).record(value, attributes);
      grown.set(key, value);
    }
    results.length = 0;
    told.length = 0;
    await reader.forceFlush().catch((error) => note(error));
    const failed = results.find((result) => result.code !== 0);
    return { error: failed ? String(failed.error ?? 'failed') : null, told };
  };
}

let push;
for await (const line of createInterface({ input: process.stdin })) {
  const what = JSON.parse(line);
  if (!push) push = begin(what);
  else console.log(JSON.stringify(await push(what)));
}
