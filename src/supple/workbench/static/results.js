// Runs as they go on, or as they ended: state, curves, table, Bayesian comparison.

import { Chart, linesOf } from "./charts.js";
import { bayesCard } from "./bayes.js";
import { colour, count, h, icon, plural, say, seconds, select, trouble } from "./dom.js";
import { sweepOf } from "./draft.js";
import { exportMenu } from "./exports.js";

const GOING = ["queued", "running", "pausing", "paused"];
const WORDS = { queued: "waiting", running: "running", pausing: "pausing", paused: "paused", finished: "finished",
  failed: "failed", cancelled: "cancelled", interrupted: "interrupted" };
const percent = (value, short = false) => `${short ? Number((100 * value).toFixed(2)) : (100 * value).toFixed(1)} %`;
const whole = (value) => (value >= 10000 ? `${(value / 1000).toFixed(0)} k` : String(Math.round(value)));

export const badge = (run) => h("span", { class: `badge ${run.state}` }, WORDS[run.state]);

export class Results {
  constructor(api, ids) {
    Object.assign(this, { api, ids, runs: [], sources: [], charts: [], hidden: new Set(), alive: true, asked: 0, drawn: 0 });
    this.element = h("section", { class: "results stack", "aria-label": "Results" });
  }

  async start() {
    if (!this.ids.length) {
      this.element.append(emptyState());
      return;
    }
    try {
      this.runs = await Promise.all(this.ids.map((id) => this.api.get(`/api/runs/${encodeURIComponent(id)}`)));
    } catch (error) {
      this.element.replaceChildren(trouble(error, "This run cannot be shown"),
        h("a", { class: "button", href: "#/runs" }, "To the history"));
      return;
    }
    if (!this.alive) return;
    this.build();
    this.runs.filter((run) => GOING.includes(run.state)).forEach((run) => this.follow(run));
    this.update();
    this.settle();
  }

  stop() {
    this.alive = false;
    this.sources.forEach((source) => source.close());
    this.charts.forEach((chart) => chart.destroy());
    clearTimeout(this.timer);
  }

  follow(run) {
    run.source?.close(); // after a restart it would bring records a second time
    const source = new EventSource(`/api/runs/${run.id}/events?after=${run.records.length}`);
    this.sources.push(source);
    source.addEventListener("records", (event) => {
      run.records.push(...JSON.parse(event.data));
      this.schedule();
    });
    source.addEventListener("state", (event) => {
      const before = run.state;
      run.heard = (run.heard || 0) + 1;
      Object.assign(run, JSON.parse(event.data));
      if (run.state !== before) say(`${run.name}: ${WORDS[run.state]}`);
      this.schedule();
    });
    source.addEventListener("end", () => {
      source.close();
      this.schedule();
      this.settle();
    });
    source.addEventListener("gone", () => source.close());
    source.addEventListener("error", () => {
      run.lost = source.readyState === EventSource.CONNECTING; // it tries again by itself
      this.schedule();
    });
    source.addEventListener("open", () => {
      run.lost = false;
      this.schedule();
    });
    run.source = source;
  }

  // Records may come faster than frames: one drawing for each frame is enough.
  schedule() {
    if (this.pending || !this.alive) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (this.alive) this.update();
    });
  }

  build() {
    this.heads = h("div", { class: "stack tight" });
    this.legend = h("div", { class: "row legend-toggles", role: "group", "aria-label": "Machines in the curves" });
    this.charts = [
      new Chart({ title: "Accuracy", unit: "share of correct predictions", metric: "accuracy", format: percent }),
      new Chart({ title: "Vectors", unit: "support or relevance vectors", metric: "vectors", format: whole }),
      new Chart({ title: "Time", unit: "training so far, logarithmic", metric: "time", format: seconds, logY: true }),
    ];
    this.table = h("div", {});
    this.sweep = h("div", { class: "stack" });
    this.bayes = h("div", { class: "stack" });
    this.element.replaceChildren(
      h("div", { class: "card" }, this.heads, this.adder()),
      h("section", { class: "card", "aria-label": "Curves" }, h("header", {}, h("h2", {}, "As the training set grows"),
        h("p", {}, "Mean of the repetitions and their range")), this.legend,
      h("div", { class: "charts" }, this.charts.map((chart) => chart.element))),
      this.sweep,
      h("section", { class: "card", "aria-label": "Table" }, h("header", {}, h("h2", {}, "At the largest training size")), this.table),
      this.bayes);
  }

  adder() {
    const slot = h("div", { class: "beside" });
    this.api.get("/api/runs").then((all) => {
      const others = all.filter((run) => !this.ids.includes(run.id) && run.n_records > 0).slice(0, 50);
      if (!others.length) return;
      const control = select([["", "Put another run beside …"], ...others.map((run) => [run.id, run.name])], "",
        (id) => { if (id) location.hash = `#/compare/${[...this.ids, id].join("+")}`; });
      control.setAttribute("aria-label", "Put another run beside");
      slot.append(control);
    }, () => {});
    return slot;
  }

  update() {
    this.runs.forEach((run, i) => this.drawHead(run, i));
    const lines = linesOf(this.runs);
    this.drawLegend(lines);
    this.charts.slice(0, 3).forEach((chart) => chart.show(lines, this.hidden));
    this.requestTable();
  }

  drawLegend(lines) {
    const key = lines.map((line) => line.label).join("\n");
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.replaceChildren(...lines.map((line) => {
      const swatch = swatchOf(line.index);
      const button = h("button", { type: "button", class: "compact toggle", "aria-pressed": String(!this.hidden.has(line.label)), onclick: () => {
        if (!this.hidden.delete(line.label)) this.hidden.add(line.label);
        button.setAttribute("aria-pressed", String(!this.hidden.has(line.label)));
        this.charts.slice(0, 3).forEach((chart) => chart.reveal(this.hidden));
      } }, swatch, line.label);
      return button;
    }));
  }

  // A button must stay the same between press and release: only a new state makes a new head.
  drawHead(run, i) {
    const total = run.records.at(-1)?.n_total || 0;
    const done = run.records.length;
    const key = JSON.stringify([run.state, run.name, run.error, run.lost, run.problem?.message, total, done > 0]);
    if (key !== run.headKey) {
      run.headKey = key;
      const head = this.head(run);
      if (this.heads.children[i]) this.heads.children[i].replaceWith(head);
      else this.heads.append(head);
    }
    const head = this.heads.children[i];
    head.querySelector(".situation").textContent = this.situation(run, done, total);
    const bar = head.querySelector("progress[max]");
    if (bar) bar.value = done;
  }

  head(run) {
    const total = run.records.at(-1)?.n_total || 0;
    const done = run.records.length;
    const order = (verb, heard = run.heard) => this.api.post(`/api/runs/${run.id}/${verb}`).then((changed) => {
      if (run.heard === heard) Object.assign(run, changed); // else the events know it, or what came after it
      if (verb === "restart") {
        run.records = [];
        this.follow(run);
      }
      this.schedule();
    }, (error) => { run.problem = error; this.schedule(); });
    const button = (verb, text, symbol, kind = "") => h("button", { type: "button", class: `compact ${kind}`, onclick: () => order(verb), "data-order": verb }, icon(symbol), text);
    const held = document.activeElement?.dataset?.order; // a redraw must not take the focus away
    const head = h("article", { class: "run-head", "data-run": run.id },
      h("div", { class: "row spread" },
        h("div", { class: "row" }, h("h2", { class: "big" }, run.name), badge(run)),
        h("div", { class: "row" },
          run.state === "running" && button("pause", "Pause", "pause"),
          ["paused", "pausing"].includes(run.state) && button("resume", "Resume", "play"),
          GOING.includes(run.state) && button("cancel", "Cancel", "stop", "danger"),
          ["failed", "cancelled", "interrupted"].includes(run.state) && button("restart", "Restart", "again"),
          done > 0 && !GOING.includes(run.state) && exportMenu(run),
          this.ids.length > 1 && h("a", { class: "button quiet compact", href: `#/compare/${this.ids.filter((id) => id !== run.id).join("+")}` }, "Take away"))),
      h("p", { class: "small muted numbers situation" }),
      GOING.includes(run.state) && (total
        ? h("progress", { max: total, value: done, "aria-label": `Progress of ${run.name}` })
        : h("progress", { "aria-label": `Progress of ${run.name}` })),
      run.error && h("div", { class: "notice bad", role: "alert" }, h("h3", {}, "The run failed"), h("p", {}, run.error)),
      run.state === "interrupted" && h("div", { class: "notice warn" }, "The workbench was stopped during this run. What was measured before is kept; restart it to have all."),
      run.lost && GOING.includes(run.state) && h("div", { class: "notice warn" }, "The workbench does not answer; this page tries again until it does. What was measured is kept."),
      run.problem && trouble(run.problem));
    if (held) queueMicrotask(() => head.isConnected && head.querySelector(`[data-order="${held}"]`)?.focus());
    return head;
  }

  situation(run, done, total) {
    const { data, repetitions, machines } = run.spec;
    const what = `${data.name}, ${plural(machines.length, "machine")}, ${plural(repetitions, "repetition")}`;
    if (run.state === "queued") return `${what}. Waits for its turn.`;
    if (run.state === "pausing") return `${what}. Pauses after the present measurement, so that no time is falsified.`;
    if (GOING.includes(run.state) && !total) return `${what}. Starting its process …`;
    if (run.state === "running") return `${what}. ${count(done)} of ${count(total)} measurements${this.left(run, done, total)}.`;
    return `${what}. ${count(done)}${total ? ` of ${count(total)}` : ""} measurements.`;
  }

  left(run, done, total) {
    const spent = Date.now() / 1000 - run.started;
    if (!run.started || done < 3 || spent < 2) return "";
    return `, about ${seconds((spent / done) * (total - done))} left`;
  }

  requestTable() {
    if (this.timer) return;
    const draw = async () => {
      const asked = ++this.asked;
      try {
        const parts = await Promise.all(this.runs.map((run) => this.api.get(`/api/runs/${run.id}/summary`)));
        if (!this.alive || asked < this.drawn) return; // a later one has come before
        this.drawn = asked;
        this.drawTable(parts);
      } catch { /* the curves have shown what is wrong */ }
    };
    draw();
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.alive) draw();
    }, 400);
  }

  drawTable(parts) {
    const rows = parts.flatMap((lines, i) => lines.map((line) => ({ ...line, run: this.runs[i] })));
    const heads = ["Machine", "Accuracy", "Vectors", "Training", "Prediction", "Model", "Examples"];
    const best = Math.max(...rows.map((row) => row.accuracy ?? 0));
    this.table.replaceChildren(rows.length ? h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Results of the machines" },
      h("table", { class: "figures" }, h("thead", {}, h("tr", {}, heads.map((text, i) => h("th", { scope: "col", class: i ? "number" : "" }, text)))),
        h("tbody", {}, rows.map((row, i) => h("tr", {},
          h("th", { scope: "row" }, swatchOf(i), row.machine, this.runs.length > 1 && h("span", { class: "muted small" }, ` ${row.run.name}`),
            row.errors.map((error) => h("p", { class: "small error" }, error))),
          h("td", { class: "number" }, row.accuracy === null ? "–" : [h(row.accuracy === best ? "b" : "span", {}, percent(row.accuracy)),
            row.deviation !== null && h("span", { class: "muted" }, ` ± ${(100 * row.deviation).toFixed(1)}`)]),
          h("td", { class: "number" }, row.n_vectors === null ? "–" : count(Number(row.n_vectors.toFixed(1)))),
          h("td", { class: "number" }, seconds(row.fit_seconds)),
          h("td", { class: "number" }, seconds(row.predict_seconds)),
          h("td", { class: "number" }, row.model_bytes === null ? "–" : `${(row.model_bytes / 1024).toFixed(1)} KB`),
          h("td", { class: "number" }, count(row.n_train)))))))
      : h("p", { class: "muted" }, "The first figures come in a moment."));
    this.drawSweep(parts);
  }

  drawSweep(parts) {
    const sweep = this.runs.length === 1 ? sweepOf(this.runs[0].spec) : null;
    if (!sweep || !parts[0].length) return;
    const at = new Map(this.runs[0].spec.machines.map((each, i) => [each.label, sweep.values[i]]));
    const line = { label: sweep.parameter, dash: [], index: 0, accuracy: new Map(), vectors: new Map(), time: new Map() };
    for (const each of parts[0]) {
      if (each.accuracy !== null) line.accuracy.set(at.get(each.machine), [each.accuracy]);
      if (each.n_vectors !== null) line.vectors.set(at.get(each.machine), [each.n_vectors]);
      line.time.set(at.get(each.machine), [each.fit_seconds]);
    }
    if (this.charts.length === 3) {
      const logX = Math.min(...sweep.values) > 0 && Math.max(...sweep.values) / Math.min(...sweep.values) > 20;
      const common = { logX, xLabel: sweep.parameter };
      this.charts.push(
        new Chart({ title: "Accuracy", unit: `over ${sweep.parameter}`, metric: "accuracy", format: percent, ...common }),
        new Chart({ title: "Vectors", unit: `over ${sweep.parameter}`, metric: "vectors", format: whole, ...common }),
        new Chart({ title: "Time", unit: `over ${sweep.parameter}`, metric: "time", format: seconds, ...common }));
      this.sweep.replaceChildren(h("section", { class: "card", "aria-label": "Sweep" }, h("header", {}, h("h2", {}, `What ${sweep.parameter} does`),
        h("p", {}, "At the largest training size")), h("div", { class: "charts" }, this.charts.slice(3).map((chart) => chart.element))));
    }
    this.charts.slice(3).forEach((chart) => chart.show([line], new Set()));
  }

  // What is asked for once all has been measured.
  settle() {
    const ended = this.runs.filter((run) => !GOING.includes(run.state) && run.spec.repetitions > 1 && run.spec.machines.length > 1 && run.records.length);
    this.bayes.replaceChildren(...ended.map((run) => bayesCard(this.api, run, this.runs.length > 1)));
  }
}

function swatchOf(index) {
  const swatch = h("i", { class: `swatch dash-${index % 4}` });
  swatch.style.setProperty("--swatch", `var(--class-${index % 8})`);
  return swatch;
}

function emptyState() {
  const canvas = h("canvas", { width: 480, height: 200, "aria-hidden": "true", class: "empty-picture" });
  const context = canvas.getContext("2d");
  [[0, 170, 60, 0.4], [2, 180, 90, 0.7], [4, 150, 120, 1.2]].forEach(([index, start, rise, bend]) => {
    context.beginPath();
    for (let x = 10; x <= 470; x += 4) context.lineTo(x, start - rise * Math.pow(1 - Math.exp(-x / (140 * bend)), 1));
    context.strokeStyle = colour(index);
    context.lineWidth = 6;
    context.globalAlpha = 0.55;
    context.stroke();
  });
  return h("div", { class: "card empty" }, canvas, h("h2", {}, "Nothing has been run yet"),
    h("p", {}, "The machines on the left are those of the comparison study. Press Run: curves of accuracy, vectors and time grow here while it works."),
    h("a", { href: "#/runs" }, "See earlier runs"));
}
