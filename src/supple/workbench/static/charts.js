// Curves over the training size: a mean line for each machine with the range of its repetitions.

import uPlot from "./vendor/uPlot.esm.js";
import { colour, h, token } from "./dom.js";

// Machines that agree to the last digit draw the same line: dashes let those below show through.
const DASHES = [[], [9, 7], [3, 6], [14, 6, 3, 6]];

// Lines from the records of runs: [{label, index, dash, metric: Map(x -> [values])}].
export function linesOf(runs) {
  const lines = [];
  runs.forEach((run) => {
    const found = new Map();
    const spent = new Map();
    for (const record of run.records) {
      if (!found.has(record.machine)) {
        const label = runs.length > 1 ? `${record.machine} · ${run.name}` : record.machine;
        found.set(record.machine, { label, dash: [], index: 0, accuracy: new Map(), vectors: new Map(), time: new Map() });
      }
      const line = found.get(record.machine);
      const key = `${record.machine} ${record.repetition}`;
      spent.set(key, (spent.get(key) || 0) + record.fit_seconds);
      const put = (map, value) => {
        if (value === null || value === undefined) return;
        if (!map.has(record.n_train)) map.set(record.n_train, []);
        map.get(record.n_train).push(value);
      };
      if (record.error) continue;
      put(line.accuracy, record.accuracy);
      put(line.vectors, record.n_vectors);
      put(line.time, spent.get(key));
    }
    lines.push(...found.values());
  });
  lines.forEach((line, i) => Object.assign(line, { index: i, dash: DASHES[i % 4] }));
  return lines;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export class Chart {
  constructor({ title, unit, metric, format, logX = false, logY = false, xLabel = "training examples" }) {
    Object.assign(this, { title, metric, format, logX, logY, xLabel, hidden: new Set(), lines: [] });
    this.box = h("div", { class: "plot", role: "img" });
    this.readout = h("p", { class: "readout numbers small", "aria-hidden": "true" });
    this.element = h("figure", { class: "chart" },
      h("figcaption", {}, h("b", {}, title), h("span", { class: "muted" }, unit)), this.box, this.readout);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    this.repaint = () => this.rebuild();
    addEventListener("themechange", this.repaint);
  }

  destroy() {
    this.observer.disconnect();
    removeEventListener("themechange", this.repaint);
    this.plot?.destroy();
    this.plot = null;
  }

  resize() {
    const width = Math.floor(this.box.clientWidth);
    if (this.plot && width > 50 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
    else if (!this.plot && width > 50) this.rebuild();
  }

  show(lines, hidden) {
    const same = lines.length === this.lines.length && lines.every((line, i) => line.label === this.lines[i].label);
    this.lines = lines;
    this.box.setAttribute("aria-label", this.describe());
    if (same && this.plot) {
      this.reveal(hidden);
      this.plot.setData(this.data());
    } else {
      this.hidden = new Set(hidden);
      this.rebuild();
    }
  }

  reveal(hidden) {
    const before = this.hidden;
    this.hidden = new Set(hidden);
    this.plot?.batch(() => this.lines.forEach((line, i) => {
      const show = !hidden.has(line.label);
      if (show === before.has(line.label)) for (let k = 1; k <= 3; k++) this.plot.setSeries(3 * i + k, { show });
    }));
  }

  describe() {
    const ends = this.lines.map((line) => {
      const sizes = [...line[this.metric].keys()];
      const last = Math.max(...sizes);
      return sizes.length ? `${line.label} ${this.format(mean(line[this.metric].get(last)))} at ${last}` : null;
    }).filter(Boolean);
    return `${this.title} over ${this.xLabel}: ${ends.join("; ") || "no values yet"}`;
  }

  data() {
    const xs = [...new Set(this.lines.flatMap((line) => [...line[this.metric].keys()]))].sort((a, b) => a - b);
    const columns = this.lines.flatMap((line) => {
      const at = xs.map((x) => line[this.metric].get(x));
      return [at.map((v) => (v ? mean(v) : null)), at.map((v) => (v ? Math.min(...v) : null)), at.map((v) => (v ? Math.max(...v) : null))];
    });
    return [xs, ...columns];
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = null;
    const width = Math.floor(this.box.clientWidth);
    if (width <= 50) return;
    const [muted, line] = [token("muted"), token("line")];
    const powers = (_, ticks) => ticks.map((tick) => (Number.isInteger(Math.round(1e6 * Math.log10(tick)) / 1e6) ? tick : null));
    const logarithmic = { filter: powers, grid: { stroke: line, width: 1, filter: powers }, ticks: { show: false } };
    const axis = { stroke: muted, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
    const hidden = { show: true, stroke: "transparent", width: 0, points: { show: false } };
    const series = this.lines.flatMap((each) => {
      const show = !this.hidden.has(each.label);
      const stroke = colour(each.index);
      return [{ label: each.label, stroke, width: 2.2, dash: each.dash, spanGaps: true, show,
        points: { show: true, size: 6, fill: token("surface"), stroke, width: 2 } },
      { ...hidden, show, spanGaps: true }, { ...hidden, show, spanGaps: true }];
    });
    const bands = this.lines.map((each, i) => ({ series: [3 * i + 3, 3 * i + 2], fill: `${colour(each.index)}14` }));
    this.plot = new uPlot({
      width, height: 230, series: [{ label: this.xLabel }, ...series], bands,
      legend: { show: false },
      cursor: { y: false, points: { size: 8 } },
      scales: { x: { time: false, distr: this.logX ? 3 : 1 },
        y: { distr: this.logY ? 3 : 1, range: this.logY ? undefined : (_, low, high) => this.range(low, high) } },
      axes: [{ ...axis, size: 32, ...(this.logX ? logarithmic : {}) }, { ...axis, size: 60, ...(this.logY ? logarithmic : {}), values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : this.format(tick, true))) }],
      hooks: { setCursor: [(plot) => this.read(plot)] },
    }, this.data(), this.box);
  }

  range(low, high) {
    if (low === null || high === null) return [0, 1];
    const room = (high - low) * 0.08 || Math.abs(high) * 0.05 || 0.5;
    return [this.metric === "accuracy" ? low - room : 0, this.metric === "accuracy" ? Math.min(high + room, 1.002) : high + room];
  }

  read(plot) {
    const at = plot.cursor.idx;
    if (at === null || at === undefined) {
      this.readout.replaceChildren();
      return;
    }
    const parts = this.lines.map((line, i) => [line, plot.data[3 * i + 1][at]]).filter(([line, value]) => value !== null && !this.hidden.has(line.label));
    this.readout.replaceChildren(h("b", {}, String(plot.data[0][at])),
      ...parts.map(([line, value]) => {
        const dot = h("i", {});
        dot.style.background = colour(line.index);
        return h("span", {}, dot, this.format(value));
      }));
  }
}
