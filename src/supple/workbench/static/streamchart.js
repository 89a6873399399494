// Curves over a stream, with its changes and the alarms, by uPlot.

import uPlot from "./vendor/uPlot.esm.js";
import { h, token } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

export class Chart {
  constructor(label, series, { percent }) {
    Object.assign(this, { series, percent, changes: [], alarms: [], length: 1, data: [[], ...series.map(() => [])] });
    this.element = h("div", { class: "stream-chart", role: "img", "aria-label": label });
    this.resized = new ResizeObserver(() => this.plot?.setSize(this.size()));
    this.resized.observe(this.element);
    addEventListener("themechange", this.rebuild = () => this.build());
    requestAnimationFrame(() => this.build());
  }

  close() {
    this.closed = true;
    this.resized.disconnect();
    removeEventListener("themechange", this.rebuild);
    this.plot?.destroy();
  }

  size() { return { width: Math.max(200, this.element.clientWidth), height: 190 }; }

  begin(length, changes) {
    Object.assign(this, { length, changes, alarms: [] });
    this.build();
  }

  alarm(position) { this.alarms.push(position); }

  set(at, curves) {
    this.data = [at, ...curves];
    this.plot?.setData(this.data);
  }

  build() {
    if (this.closed || !this.element.isConnected) return;
    this.plot?.destroy();
    const axis = { stroke: token("muted"), grid: { stroke: token("line"), width: 1 }, ticks: { stroke: token("line"), width: 1 }, font: "12px system-ui, sans-serif" };
    this.plot = new uPlot({
      ...this.size(),
      cursor: { show: false },
      legend: { show: false },
      scales: { x: { time: false, range: () => [0, this.length] }, y: { range: (_, __, high) => [0, high > 0 ? 1.08 * high : 1] } },
      axes: [{ ...axis, size: 30 }, { ...axis, size: 58, values: this.percent ? (_, values) => values.map((v) => `${Math.round(100 * v)} %`) : undefined }],
      series: [{}, ...this.series.map(({ title, colour, dash, width }) =>
        ({ label: title, stroke: token(colour), dash, width, points: { show: false } }))],
      hooks: { drawClear: [(plot) => this.marks(plot)] },
    }, this.data, this.element);
  }

  // Changes of the stream as grey lines, alarms as marks at the top.
  marks(plot) {
    const c = plot.ctx;
    const { top, height } = plot.bbox;
    const scale = devicePixelRatio || 1;
    c.save();
    c.lineWidth = 2 * scale;
    c.strokeStyle = token("field");
    c.setLineDash([3 * scale, 3 * scale]);
    for (const change of this.changes) {
      const x = plot.valToPos(change, "x", true);
      c.beginPath();
      c.moveTo(x, top);
      c.lineTo(x, top + height);
      c.stroke();
    }
    c.fillStyle = token("bad");
    for (const alarm of this.alarms) {
      const x = plot.valToPos(alarm, "x", true);
      c.beginPath();
      c.moveTo(x - 6 * scale, top);
      c.lineTo(x + 6 * scale, top);
      c.lineTo(x, top + 11 * scale);
      c.fill();
    }
    c.restore();
  }
}

// A legend whose lines are those of the curves.
export function keys(series, marks) {
  const line = (stroke, dash, width) => picture("line", { x1: 1, x2: 29, y1: 6, y2: 6, "stroke-width": width, "stroke-dasharray": dash.join(" ") }, "stroke", stroke);
  const items = series.map(({ title, colour, dash, width }) => [line(colour, dash, width), title]);
  if (marks) items.push([line("field", [3, 3], 2), "the stream changes"], [picture("path", { d: "M9 1h12l-6 11z" }, "fill", "bad"), "alarm"]);
  return h("ul", { class: "keys" }, items.map(([sign, text]) => h("li", {}, sign, text)));
}

function picture(tag, settings, property, colour) {
  const svg = document.createElementNS(SVG, "svg");
  const shape = document.createElementNS(SVG, tag);
  svg.setAttribute("viewBox", "0 0 30 12");
  svg.setAttribute("aria-hidden", "true");
  for (const [key, value] of Object.entries(settings)) shape.setAttribute(key, value);
  shape.style[property] = `var(--${colour})`;
  svg.append(shape);
  return svg;
}
