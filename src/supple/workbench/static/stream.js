// The tab Stream: a drifting stream while it is played.

import { Board, decodeGrid } from "./board.js";
import { field, h, icon, say, select, trouble } from "./dom.js";
import { useStyle } from "./playqueue.js";
import { Chart, keys } from "./streamchart.js";

const KEPT = "supple-stream";
const STRATEGIES = [
  { name: "adaptive", short: "adaptive", title: "adaptive window", colour: "class-0", dash: [], width: 2.5 },
  { name: "fixed", short: "fixed", title: "fixed window", colour: "class-1", dash: [8, 4], width: 2 },
  { name: "last", short: "latest batch", title: "latest batch only", colour: "class-2", dash: [2, 3], width: 2 },
  { name: "full", short: "full memory", title: "full memory", colour: "class-3", dash: [10, 3, 2, 3], width: 2 },
];
const OUTSIDE = { name: "outside", title: "share of points outside the description", colour: "class-5", dash: [], width: 2 };
const SMOOTH = 5; // batches in a moving mean
const SHOWN = 5; // batches of points on the board

const pathOf = (player) => `/api/stream/players/${encodeURIComponent(player)}`;

let tab = null;

export async function mount(element, api) {
  await useStyle("/static/playground.css");
  if (!element.isConnected) return; // another tab was chosen in the meantime
  tab = new StreamTab(element, api);
  await tab.start();
}

export function unmount() {
  tab?.close();
  tab = null;
}

class StreamTab {
  constructor(element, api) {
    Object.assign(this, { element, api, records: [], running: false, paused: false, turn: 0 });
    addEventListener("pagehide", this.gone = () => this.source?.close());
  }

  get path() { return pathOf(this.player); }

  // Take a turn; what is returned says whether it is still the latest one of a page that is there.
  takeTurn() {
    const mine = ++this.turn;
    return () => mine === this.turn;
  }

  async start() {
    const latest = this.takeTurn();
    this.kinds = await this.api.get("/api/stream/streams");
    if (!latest()) return;
    this.build();
    this.board = new Board(this.canvas);
    const kept = sessionStorage.getItem(KEPT);
    if (!kept) return;
    const about = await this.api.get(pathOf(kept)).catch(() => null);
    if (!latest()) return;
    if (about) this.listen(about);
    else sessionStorage.removeItem(KEPT); // it has ended
  }

  close() {
    this.turn++; // answers that are under way come too late
    this.source?.close();
    removeEventListener("pagehide", this.gone);
    this.board?.close();
    for (const chart of this.charts || []) chart.close();
  }

  // ---------------------------------------------------------------- the page

  build() {
    const number = (min, max, value) => h("input", { type: "number", min, max, value, step: 1, required: true });
    this.about = h("p", { class: "small muted" });
    const describe = () => { this.about.textContent = this.kinds.find(({ name }) => name === this.kind.value).about; };
    this.kind = select(this.kinds.map(({ name, title }) => [name, title]), "rotating_gaussians", describe);
    describe();
    Object.assign(this, { n: number(200, 20000, 2000), batch: number(10, 200, 40), window: number(1, 50, 5), seed: number(0, 2147483648, 0),
      C: h("input", { type: "number", min: 0.001, max: 10000, step: "any", value: 1, required: true }),
      estimate: select([["xi_alpha", "ξα bound"], ["leave_one_out", "leave-one-out"]], "xi_alpha", () => {}) });
    this.speedText = h("output", { class: "numbers" }, "10");
    this.speed = h("input", { type: "range", min: -0.7, max: 2, step: 0.1, value: 1, oninput: () => this.setSpeed() });
    this.playButton = h("button", { class: "primary" }, icon("play"), "Play");
    this.pauseButton = h("button", { type: "button", hidden: true, onclick: () => this.control(this.paused ? "resume" : "pause") });
    this.stopButton = h("button", { type: "button", hidden: true, onclick: () => this.control("stop") }, icon("stop"), "Stop");
    this.state = h("span", { class: "badge" }, "ready");
    this.problem = h("div", {});
    this.canvas = h("canvas", { class: "board still", role: "img", "aria-label": "The latest points and the boundary of the adaptive window" });
    this.alarms = h("ul", { class: "alarms" });
    this.table = h("tbody", {});
    this.charts = [
      new Chart("Error of the strategies over time", STRATEGIES, { percent: true }),
      new Chart("Examples in the windows over time", STRATEGIES, {}),
      new Chart("Novelty over time", [OUTSIDE], { percent: true }),
    ];
    const card = (title, note, ...content) => h("section", { class: "card" }, h("header", {}, h("h2", {}, title), note && h("p", {}, note)), ...content);
    this.element.replaceChildren(
      h("div", { class: "title" }, h("h1", {}, "Stream"), this.state,
        h("p", {}, "Play a stream that changes. Each batch is predicted before it is learned; four exact machines differ only in what they remember.")),
      this.problem,
      h("div", { class: "stream" },
        h("div", { class: "stack" },
          card("Error of the strategies", `mean of the latest ${SMOOTH} batches`, keys(STRATEGIES, true), this.charts[0].element),
          card("Windows", "examples that each machine holds", this.charts[1].element),
          h("div", { class: "stream-pair" },
            card("Novelty", "share of new points outside an SVDD of the latest 200", this.charts[2].element),
            card("The latest points", "the first two features", this.canvas))),
        h("div", { class: "stack stream-side" }, this.form(), card("So far", null, h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Strategies so far" },
          h("table", {}, h("thead", {}, h("tr", {}, ["Strategy", "Error", "Holds", "ms"].map((text, at) =>
            h("th", { class: at ? "number" : null, scope: "col" }, text)))), this.table))),
        card("Alarms", "when the points change", this.alarms))));
    this.fill();
  }

  form() {
    return h("section", { class: "card" }, h("header", {}, h("h2", {}, "Stream")),
      h("form", { class: "stack play-tight", onsubmit: (event) => { event.preventDefault(); this.begin(); } },
        field("Kind", this.kind), this.about,
        h("div", { class: "fields" }, field("Examples", this.n), field("Batch", this.batch), field("Fixed window, batches", this.window),
          field("C", this.C), field("Seed", this.seed), field("Window chosen by", this.estimate)),
        field("Speed, batches a second", this.speed, null, this.speedText),
        h("div", { class: "row" }, this.playButton, this.pauseButton, this.stopButton)));
  }

  // ---------------------------------------------------------------- playing

  get chosenSpeed() { return Number(Math.min(100, Math.max(0.2, 10 ** this.speed.value)).toPrecision(2)); }

  async begin() {
    const latest = this.takeTurn();
    const wanted = { stream: this.kind.value, n: Number(this.n.value), batch: Number(this.batch.value), window: Number(this.window.value),
      C: Number(this.C.value), seed: Number(this.seed.value), estimate: this.estimate.value, speed: this.chosenSpeed };
    try {
      if (this.running) await this.stop(this.player).catch(() => {}); // it may have ended
      this.source?.close();
      const about = await this.api.post("/api/stream/players", wanted);
      if (latest()) this.listen(about);
      else this.stop(about.player).catch(() => {}); // nobody will listen to it
    } catch (error) {
      if (latest()) this.problem.replaceChildren(trouble(error));
    }
  }

  stop(player) { return this.api.post(`${pathOf(player)}/control`, { action: "stop" }); }

  listen(about) {
    Object.assign(this, { player: about.player, meta: about, records: [], running: true, paused: about.paused });
    sessionStorage.setItem(KEPT, about.player);
    this.problem.replaceChildren();
    this.alarms.replaceChildren();
    this.board.view = about.view;
    for (const chart of this.charts) chart.begin(about.spec.n, about.changes);
    this.source = new EventSource(`${this.path}/events`);
    this.source.addEventListener("batch", (event) => this.take(JSON.parse(event.data)));
    this.source.addEventListener("end", (event) => this.end(JSON.parse(event.data).stopped));
    this.source.onerror = () => {
      if (this.source.readyState === EventSource.CLOSED)
        this.fail(new Error("This stream is not held any more. Start it again."));
    };
    this.showState();
  }

  async control(action) {
    try {
      const { paused } = await this.api.post(`${this.path}/control`, { action });
      this.paused = paused;
      if (action === "stop") this.end(true);
      else this.showState();
    } catch (error) {
      this.fail(error);
    }
  }

  async setSpeed() {
    this.speedText.textContent = String(this.chosenSpeed);
    if (this.running) await this.api.post(`${this.path}/control`, { action: "speed", speed: this.chosenSpeed }).catch(() => {});
  }

  end(stopped) {
    sessionStorage.removeItem(KEPT);
    this.halt(stopped);
    say(stopped ? "Stopped" : "The stream is over");
  }

  halt(stopped) {
    this.source.close();
    this.running = false;
    this.stopped = stopped;
    this.showState();
  }

  // The player may still be there for a page that is loaded again: it keeps its name.
  fail(error) {
    this.halt(true);
    this.problem.replaceChildren(trouble(error));
  }

  showState() {
    const [kind, text] = this.running ? (this.paused ? ["paused", "paused"] : ["running", "playing"])
      : (this.stopped ? ["interrupted", "stopped"] : ["finished", "finished"]);
    this.state.className = `badge ${kind}`;
    this.state.textContent = text;
    this.playButton.lastChild.textContent = this.records.length || this.running ? "Play anew" : "Play";
    this.pauseButton.hidden = this.stopButton.hidden = !this.running;
    this.pauseButton.replaceChildren(icon(this.paused ? "play" : "pause"), this.paused ? "Resume" : "Pause");
  }

  // ---------------------------------------------------------------- what comes

  take(record) {
    if (record.number !== this.records.length) return; // heard before a reconnection
    this.records.push(record);
    for (const alarm of record.alarms) this.alarm(alarm);
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      if (tab === this) this.fill();
    });
  }

  alarm({ position, direction }) {
    const since = position - Math.max(...this.meta.changes.filter((at) => at <= position), -Infinity);
    const meaning = { lower: "stranger points", higher: "more ordinary points", wider: "more extreme points", narrower: "fewer extreme points" }[direction];
    const place = Number.isFinite(since) ? `${since} after a change` : "no change came before";
    this.alarms.prepend(h("li", {}, h("b", { class: "numbers" }, `Example ${position}`), `: ${meaning}, ${place}`));
    for (const chart of this.charts) chart.alarm(position);
    say(`Alarm at example ${position}`);
  }

  fill() {
    const { records } = this;
    const last = records.at(-1);
    const at = records.map((record) => record.at);
    const smooth = (values) => values.map((_, i) => mean(values.slice(Math.max(0, i + 1 - SMOOTH), i + 1)));
    this.charts[0].set(at, STRATEGIES.map(({ name }) => smooth(records.map(({ errors }) => errors[name]))));
    this.charts[1].set(at, STRATEGIES.map(({ name }) => records.map(({ held }) => held[name])));
    this.charts[2].set(at, [records.map(({ outside }) => outside)]);
    this.table.replaceChildren(...STRATEGIES.map(({ name, short }) => {
      const wrong = mean(records.map(({ errors }) => errors[name]));
      return h("tr", {}, h("th", { scope: "row" }, short), h("td", { class: "number" }, wrong === null ? "–" : `${(100 * wrong).toFixed(1)} %`),
        h("td", { class: "number" }, last ? String(last.held[name]) : "–"),
        h("td", { class: "number" }, last ? last.milliseconds[name].toFixed(1) : "–"));
    }));
    if (!last) return;
    this.board.values = decodeGrid(last.grid);
    const latest = records.slice(-SHOWN);
    this.board.points = latest.flatMap(({ points }, age) => points.map(([x, y, label]) =>
      ({ id: null, x, y, label, weight: 1, set: 0, faded: 0.25 + (0.6 * (age + 1)) / latest.length })));
    this.board.selected = undefined;
    this.board.ask();
  }
}

function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}
