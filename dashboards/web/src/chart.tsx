// SPDX-License-Identifier: Apache-2.0
// One chart of numbers over time. The pointer or the arrow keys choose a moment, which all charts of the page show; a drag zooms.

import {useEffect, useRef} from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import {weftdNow} from './api';
import type {Mark, Values} from './history';
import {clock} from './words';

export interface Line {
  name: string;
  /** Of the colours --line-0 to --line-5. */
  colour: number;
  values: Values;
  /** Drawn as a shade above the line. */
  peaks?: Values;
  /** Of the whole time; shown while no moment is chosen. */
  summary: string;
  /** A value at one moment. */
  text: (value: number) => string;
}

export interface ChartProps {
  title: string;
  /** The middles of the buckets, in seconds since 1970, and the length of one. */
  times: number[];
  step: number;
  lines: Line[];
  /** Events stand for themselves: as bars, where others are lines. */
  bars?: boolean;
  /** Where the axis begins, of the least value; 0 without. */
  bottom?: (least: number) => number;
  /** Where the axis ends, of the greatest value. */
  top: (most: number) => number;
  /** At the axis. */
  tick: (value: number) => string;
  marks: Mark[];
  /** The chosen bucket, or -1. */
  at: number;
  onAt: (bucket: number) => void;
  onZoom: (from: number, to: number) => void;
}

export const LINE_COLOURS = 6;
const HEIGHT = 130;
const AXIS = 74;

const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function markColour(mark: Mark): string {
  if (mark.kind === 'INCIDENT') return `--ring-${mark.severity.toLowerCase()}`;
  return mark.kind === 'PLAN' ? '--accent' : '--muted';
}

const two = (value: number) => String(value).padStart(2, '0');

/** "25 Nov" at midnight and where days are apart, "14:05" or "14:05:30" otherwise. */
function timeTicks(splits: number[], apart: number): string[] {
  return splits.map((split) => {
    const time = new Date(split * 1000);
    const [hours, minutes, seconds] = [time.getHours(), time.getMinutes(), time.getSeconds()];
    if (apart >= 86_400 || hours + minutes + seconds === 0) return time.toLocaleDateString('en-GB', {day: 'numeric', month: 'short'});
    return apart < 60 ? `${two(hours)}:${two(minutes)}:${two(seconds)}` : `${two(hours)}:${two(minutes)}`;
  });
}

/** Behind the lines: the times of which nothing is known, and what happened. */
function paintBehind(plot: uPlot, {times, step, lines, marks}: ChartProps): void {
  const {ctx} = plot;
  const {left, top, width, height} = plot.bbox;
  const begin = times[0] - step / 2;
  const place = (time: number) => Math.max(left, Math.min(left + width, plot.valToPos(time, 'x', true)));
  const fill = (from: number, to: number, y: number, tall: number, least = 0) =>
    ctx.fillRect(place(from), y, Math.max(least, place(to) - place(from)), tall);
  ctx.save();
  ctx.fillStyle = colourOf('--gap');
  const known = times.map((_, index) => lines.some((line) => line.values[index] !== null));
  for (let index = 0; index < known.length; index++) {
    let end = index;
    while (end < known.length && !known[end]) end++;
    if (end > index) fill(begin + index * step, begin + end * step, top, height);
    index = end;
  }
  const lane = 4 * devicePixelRatio;
  for (const mark of marks) {
    const [from, until] = [Date.parse(mark.from ?? '') / 1000 || begin, mark.until ? Date.parse(mark.until) / 1000 : weftdNow() / 1000];
    ctx.fillStyle = colourOf(markColour(mark));
    ctx.globalAlpha = 0.1;
    fill(from, until, top, height);
    ctx.globalAlpha = 1;
    fill(from, until, top - lane, lane, lane);
  }
  ctx.restore();
}

function seriesOf(lines: Line[], bars: boolean): uPlot.Series[] {
  const paths = bars && uPlot.paths.bars ? uPlot.paths.bars({size: [0.9, Infinity, 2]}) : undefined;
  return lines.flatMap((line) => {
    const colour = () => colourOf(`--line-${line.colour}`);
    const main: uPlot.Series = {
      stroke: colour, width: bars ? 0 : 1.5, paths, fill: bars ? colour : undefined, points: bars ? {show: false} : {size: 4, fill: colour},
    };
    return line.peaks ? [main, {stroke: colour, width: 0, points: {show: false}}] : [main];
  });
}

/** A shade between each line and its peaks. */
function bandsOf(lines: Line[]): uPlot.Band[] {
  let series = 0;
  const bands: uPlot.Band[] = [];
  for (const line of lines) {
    series++;
    if (!line.peaks) continue;
    bands.push({series: [series + 1, series], fill: () => `${colourOf(`--line-${line.colour}`)}40`});
    series++;
  }
  return bands;
}

function dataOf({times, lines}: ChartProps): uPlot.AlignedData {
  return [times, ...lines.flatMap((line) => (line.peaks ? [line.values, line.peaks] : [line.values]))];
}

function optionsOf(current: {props: ChartProps}, width: number): uPlot.Options {
  const {lines, bars} = current.props;
  const font = '12px system-ui, sans-serif';
  const axis = {stroke: () => colourOf('--muted'), grid: {stroke: () => colourOf('--line'), width: 1}, ticks: {show: false}, font};
  return {
    width,
    height: HEIGHT,
    padding: [6, 8, 0, 0],
    legend: {show: false},
    series: [{}, ...seriesOf(lines, !!bars)],
    bands: bandsOf(lines),
    scales: {
      x: {range: () => {
        const {times, step} = current.props;
        return [times[0] - step / 2, times[times.length - 1] + step / 2];
      }},
      y: {range: (_, least, most) => [current.props.bottom?.(least ?? 0) ?? 0, current.props.top(most ?? 0)]},
    },
    axes: [
      {...axis, size: 24, space: 64, values: (_, splits, _axis, _space, apart) => timeTicks(splits, apart)},
      {...axis, size: AXIS, space: 34, values: (_, splits) => splits.map((split) => current.props.tick(split))},
    ],
    cursor: {y: false, drag: {x: true, y: false, dist: 8}, sync: {key: 'history'}, points: {size: 7}},
    hooks: {
      drawClear: [(plot) => paintBehind(plot, current.props)],
      setCursor: [(plot) => current.props.onAt(plot.cursor.idx ?? -1)],
      setSelect: [(plot) => {
        const {left, width: wide} = plot.select;
        if (wide > 0) current.props.onZoom(plot.posToVal(left, 'x'), plot.posToVal(left + wide, 'x'));
      }],
    },
  };
}

function usePlot(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const current = useRef({props}).current;
  current.props = props;
  const shape = `${props.bars} ${props.lines.map((line) => `${line.colour}${!!line.peaks}`)}`;
  useEffect(() => {
    const box = place.current as HTMLDivElement;
    const made = new uPlot(optionsOf(current, box.clientWidth), dataOf(current.props), box);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({width: box.clientWidth, height: HEIGHT}));
    observer.observe(box);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => made.redraw(false, true);
    dark.addEventListener('change', redraw);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', redraw);
      made.destroy();
    };
  }, [shape]);
  useEffect(() => { plot.current?.setData(dataOf(props)); }, [props.times, props.lines, props.marks]);
  return {place, plot};
}

function textAt(line: Line, at: number): string {
  const value = at < 0 ? undefined : line.values[at];
  return value === undefined ? line.summary : value === null ? 'no data' : line.text(value);
}

export function Chart(props: ChartProps) {
  const {title, times, lines, at} = props;
  const {place, plot} = usePlot(props);
  const choose = (event: KeyboardEvent) => {
    const last = times.length - 1;
    const aims: Record<string, number> = {ArrowLeft: at < 0 ? last : at - 1, ArrowRight: at < 0 ? 0 : at + 1, Home: 0, End: last};
    const aim = aims[event.key];
    if (aim === undefined || !plot.current) return;
    event.preventDefault();
    plot.current.setCursor({left: plot.current.valToPos(times[Math.max(0, Math.min(last, aim))], 'x'), top: 0});
  };
  const leave = () => plot.current?.setCursor({left: -10, top: -10});
  const moment = at < 0 ? '' : clock(new Date(times[at] * 1000).toISOString());
  return (
    <figure class="chart">
      <figcaption>
        <b>{title}</b>{moment && <span>{moment}</span>}
        {lines.map((line) => (
          <span key={line.name}>
            <span class={`swatch line-${line.colour}`} />{line.name} <output>{textAt(line, at)}</output>
          </span>
        ))}
      </figcaption>
      <div ref={place} class="plot" tabIndex={0} role="slider" aria-label={`${title} over time`} aria-valuemin={0} aria-valuemax={times.length - 1}
        aria-valuenow={Math.max(0, at)} aria-valuetext={`${moment || 'all of it'}: ${lines.map((line) => `${line.name} ${textAt(line, at)}`).join(', ')}`}
        onKeyDown={choose} onBlur={leave} />
    </figure>
  );
}
