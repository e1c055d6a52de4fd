// SPDX-License-Identifier: Apache-2.0
// Counters, rates and readings in the units that people read.

import type {Reading} from './types';
import {bits, plain} from './words';

interface Often {
  name: string;
  /** In seconds. */
  length: number;
}

/** The unit of time in which the rate, of things a second, is a number of 1 or more. */
export function often(rate: number): Often {
  const units = [{name: 's', length: 1}, {name: 'min', length: 60}, {name: 'h', length: 3600}];
  return units.find((each) => rate * each.length >= 1) ?? {name: 'd', length: 86_400};
}

/** "3 /min" rather than "0.05 /s". */
export function oftenness(rate: number): string {
  if (rate === 0) return '0';
  const unit = often(rate);
  return `${short(rate * unit.length)} /${unit.name}`;
}

/** At most four digits, with the thousands of SI: "12.5 k". */
export function short(value: number): string {
  const step = value < 1000 ? 0 : Math.min(5, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** step;
  const digits = Number.isInteger(scaled) && step === 0 ? 0 : scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  return `${Number(scaled.toFixed(digits))}${step ? ` ${'kMGTP'[step - 1]}` : ''}`;
}

/** What a counter grew by, in the unit that a person reads. */
export function amount(counter: {unit: string; total: string; atLeast: boolean}): string {
  const value = Number(counter.total);
  const unit: Record<string, string> = {bytes: 'B', seconds: 's', packets: '', events: ''};
  const text = `${short(value)}${value < 1000 && unit[counter.unit] ? ' ' : ''}${unit[counter.unit] ?? ` ${counter.unit}`}`;
  return `${counter.atLeast ? '≥ ' : ''}${text}`;
}

/** A rate of it in the unit that a person reads. */
export function rateOf(unit: string, rate: number): string {
  if (unit === 'bytes') return bits(rate * 8);
  if (unit === 'seconds') return share(rate);
  return oftenness(rate);
}

export function share(ratio: number): string {
  return `${Number((ratio * 100).toPrecision(ratio < 0.1 ? 2 : 3))} %`;
}

/** "PCIe read stall" for "pcie_read_stall": the field's abbreviations stay as they are. */
export function counterName(counter: string): string {
  return plain(counter).replace(/\b(pfc|ecn|cnp|fec|rdma|crc|qp1|vl15)\b/gi, (word) => word.toUpperCase()).replace(/\bpcie\b/i, 'PCIe');
}

interface Gauge {
  unit: string;
  scale: (value: number) => number;
  digits: number;
}

const GAUGES: Record<string, Gauge> = {
  percent: {unit: '%', scale: (value) => value, digits: 0},
  'thousandths of a degree Celsius': {unit: '°C', scale: (value) => value / 1000, digits: 1},
  nanowatts: {unit: 'dBm', scale: (value) => 10 * Math.log10(value / 1e6), digits: 1},
  microamperes: {unit: 'mA', scale: (value) => value / 1000, digits: 1},
  microvolts: {unit: 'V', scale: (value) => value / 1e6, digits: 2},
  state: {unit: '', scale: (value) => value, digits: 0},
};

/** It goes up and down: what it says is now, and it has no rate. */
export const isGauge = (unit: string) => unit in GAUGES;

function gaugeText(unit: string, value: string): string {
  const gauge = GAUGES[unit];
  const number = Number(BigInt.asIntN(64, BigInt(value))); // signed ones are sent as the same 64 bits
  // No light at all has no logarithm.
  return unit === 'nanowatts' && number <= 0 ? 'none' : gauge.scale(number).toFixed(gauge.digits);
}

/** Readings of one name, of all its lanes, in the unit that people know: "41.5 °C", "-2.1, -1.9 dBm". */
export function readingText(readings: Reading[]): string {
  if (!readings.length) return '–';
  const {unit} = readings[0];
  return `${readings.map((each) => gaugeText(unit, each.value)).join(', ')} ${GAUGES[unit].unit}`.trimEnd();
}

/** No module measures less; no light at all is drawn here. */
export const DARK = -40;

interface BaseGauge {
  scaled: (value: number) => number;
  text: (scaled: number) => string;
}

/** Gauges of the history, which has base units: as they are drawn, and as they are read. */
export const BASE_GAUGES: Record<string, BaseGauge> = {
  watts: {
    scaled: (value) => (value > 0 ? Math.max(DARK, 10 * Math.log10(value * 1000)) : DARK),
    text: (scaled) => (scaled <= DARK ? 'no light' : `${scaled.toFixed(1)} dBm`),
  },
  amperes: {scaled: (value) => value * 1000, text: (scaled) => `${scaled.toFixed(1)} mA`},
  'degrees Celsius': {scaled: (value) => value, text: (scaled) => `${scaled.toFixed(0)} °C`},
};
