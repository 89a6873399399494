// The playground: an exact machine on a canvas that learns and forgets under the hand.

import { Board, decodeGrid, sample } from "./board.js";
import { field, h, icon, say, seconds, select, toast, trouble } from "./dom.js";
import { Log } from "./playlog.js";
import { Source } from "./playsource.js";
import { Queue, useStyle } from "./playqueue.js";
import { Hand } from "./playhand.js";

const KEPT = "supple-playground";
const SETS = ["reserve", "margin", "error"];
const WEIGHTS = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const pathOf = (session) => `/api/playground/sessions/${encodeURIComponent(session)}`;
const percent = (value) => `${(100 * value).toFixed(1)} %`;

let tab = null;

export async function mount(element, api) {
  await useStyle("/static/playground.css");
  if (!element.isConnected) return; // another tab was chosen in the meantime
  tab = new Playground(element, api);
  await tab.start();
}

export function unmount() {
  tab?.close();
  tab = null;
}

class Playground {
  constructor(element, api) {
    this.api = api;
    this.element = element;
    this.label = 1;
    this.click = "forget";
    this.turn = 0; // counts the wishes for a canvas: only the latest is shown
    this.log = new Log();
    this.ending = new AbortController();
    this.canvas = h("canvas", { class: "board", tabIndex: 0, role: "application",
      "aria-label": "Canvas of points", "aria-describedby": "board-help" });
    this.build();
    this.board = new Board(this.canvas);
    this.queue = this.newQueue();
    this.hand = new Hand(this);
    this.drawLegend = () => this.legend.replaceChildren(...this.legendItems());
    addEventListener("themechange", this.drawLegend, { signal: this.ending.signal });
  }

  get path() { return pathOf(this.session); }

  newQueue() {
    return new Queue((action) => this.api.post(`${this.path}/changes`, action),
      (state, job) => this.show(state, job), (error) => this.fail(error));
  }

  // Take a turn; what is returned says whether it is still the latest one of a page that is there.
  takeTurn() {
    const mine = ++this.turn;
    return () => mine === this.turn && !this.ending.signal.aborted;
  }

  async start() {
    const latest = this.takeTurn();
    await this.source.start();
    const kept = sessionStorage.getItem(KEPT);
    if (kept && latest()) {
      this.session = kept;
      const state = await this.api.get(this.path).catch(() => null);
      if (!latest()) return;
      if (state) {
        this.show(state);
        return;
      }
      this.session = undefined; // it has ended: begin anew
      sessionStorage.removeItem(KEPT);
    }
    if (latest()) await this.begin(this.source.wanted());
  }

  async begin(wanted) {
    const latest = this.takeTurn();
    try {
      const state = await this.api.post("/api/playground/sessions", wanted);
      if (latest()) this.replace(state);
      else this.api.remove(pathOf(state.session)).catch(() => {}); // nobody will see it
    } catch (error) {
      if (latest()) this.fail(error);
    }
  }

  // Show a new canvas; what was on its way to the old one is not meant for it.
  replace(state) {
    const { session, queue, estimating } = this;
    queue.close();
    this.queue = this.newQueue();
    // The old canvas goes after the answers that are under way, which would not find it.
    if (session) Promise.allSettled([queue.work, estimating]).then(() => this.api.remove(pathOf(session))).catch(() => {});
    this.log.element.replaceChildren();
    this.hand.drop();
    this.hand.select(null);
    this.show(state);
    say(`${state.points.length} points on the canvas`);
  }

  close() {
    this.ending.abort();
    clearTimeout(this.waiting);
    this.queue.close();
    this.board.close();
  }

  // Say what went wrong, and show the canvas as the server has it.
  async fail(error) {
    const { session } = this;
    const state = session && await this.api.get(this.path).catch(() => null);
    if (this.ending.signal.aborted || session !== this.session) return;
    if (state) this.show(state);
    this.problem.replaceChildren(trouble(error));
  }

  // ---------------------------------------------------------------- the page

  build() {
    const segments = (name, title, options, chosen, change) => h("fieldset", { class: "segments" },
      h("legend", {}, title), h("div", {}, options.map(([value, text]) => h("label", {},
        h("input", { type: "radio", name, value, checked: value === chosen, onchange: () => change(value) }),
        h("span", {}, text)))));
    this.labels = ["class 0", "class 1"].map((name) => document.createTextNode(name));
    this.legend = h("ul", { class: "play-legend", "aria-label": "What the marks mean" });
    this.problem = h("div", {});
    this.note = h("p", { class: "small muted" });
    this.chosen = h("div", { class: "chosen", "aria-live": "polite" });
    this.weight = select(WEIGHTS.map((w) => [String(w), `weight ${w}`]), "1",
      (value) => this.send({ action: "reweight", point: this.board.selected, weight: Number(value) }));
    this.weight.setAttribute("aria-label", "Weight of the selected point");
    this.source = new Source(this.api, (wanted) => this.begin(wanted));
    this.element.replaceChildren(
      h("div", { class: "title" }, h("h1", {}, "Playground"),
        h("p", {}, "Every change is one exact update of the machine: it learns, forgets, re-weights and retunes as if it had been fitted to what you see.")),
      this.problem,
      h("div", { class: "play" },
        h("section", { class: "card play-canvas", "aria-label": "Canvas" },
          h("div", { class: "row play-tools" },
            segments("play-label", "A click adds", [["0", this.labels[0]], ["1", this.labels[1]]], "1",
              (value) => { this.label = Number(value); }),
            segments("play-click", "A click on a point", [["forget", "forgets it"], ["select", "selects it"], ["flip", "flips it"]],
              "forget", (value) => { this.click = value; })),
          h("div", { class: "board-frame" }, this.canvas, this.axisX = h("span", { class: "axis-x" }), this.axisY = h("span", { class: "axis-y" }),
            this.waitingText = h("p", { class: "board-wait", hidden: true }, "Add points of both classes: then there is a boundary.")),
          this.legend, this.timeRow(), this.chosenRow(), this.note,
          h("details", { class: "small" }, h("summary", {}, "Keys"), h("p", { id: "board-help" },
            "Drag moves a point. With the keyboard: arrow keys select a neighbour, Shift and arrow keys move the point, Delete forgets it, plus and minus change its weight, F flips its class, N adds a point, Ctrl Z takes back. "))),
        h("div", { class: "stack" }, this.machineCard(), this.errorCard(), this.source.element),
        h("section", { class: "card play-log" }, h("header", {}, h("h2", {}, "What happened"), h("p", {}, "the latest first")), this.log.element)));
  }

  timeRow() {
    const go = (by) => this.travel(Number(this.time.value) + by);
    this.undo = h("button", { type: "button", class: "compact", onclick: () => go(-1) }, "Undo");
    this.redo = h("button", { type: "button", class: "compact", onclick: () => go(1) }, "Redo");
    this.time = h("input", { type: "range", min: 0, max: 0, step: 1, value: 0, id: "play-time",
      oninput: (event) => this.travel(Number(this.time.value), event.timeStamp) });
    this.timeText = h("span", { class: "numbers small muted" });
    return h("div", { class: "time" }, h("label", { htmlFor: "play-time" }, "Time"), this.time, this.timeText,
      this.undo, this.redo);
  }

  chosenRow() {
    return this.chosenBox = h("div", { class: "row chosen-row", hidden: true }, this.chosen,
      h("span", { class: "narrow" }, this.weight),
      h("button", { type: "button", class: "compact danger", onclick: () => this.forget(this.board.selected) }, icon("trash"), "Forget"));
  }

  machineCard() {
    const slider = (name, low, high) => {
      const number = h("output", { class: "numbers" });
      const range = h("input", { type: "range", min: Math.log10(low), max: Math.log10(high), step: 0.01,
        oninput: (event) => {
          const value = Number((10 ** range.value).toPrecision(4));
          number.textContent = String(value);
          this.send({ action: name, value, gesture: this.hand.gesture(name) }, event.timeStamp);
        },
        onchange: () => { this.hand.endGesture(name); this.log.settle(); } });
      return [range, number];
    };
    [this.rangeC, this.textC] = slider("C", 0.01, 1000);
    [this.rangeGamma, this.textGamma] = slider("gamma", 0.01, 100);
    this.counts = h("div", { class: "counts" });
    return h("section", { class: "card" }, h("header", {}, h("h2", {}, "Machine"), this.kernel = h("p", {})),
      h("div", { class: "stack play-tight" },
        field("C, cost of a margin error", this.rangeC, null, this.textC),
        this.gammaField = field("gamma, width of the kernel", this.rangeGamma, null, this.textGamma),
        this.counts));
  }

  errorCard() {
    this.bound = h("dd", {}, "–");
    this.left = h("dd", {}, "–");
    this.refit = h("dd", {}, "–");
    this.agrees = h("dd", {}, "–");
    return h("section", { class: "card" }, h("header", {}, h("h2", {}, "Error on new points"), h("p", {}, "estimated when you pause")),
      h("dl", { class: "play-figures" },
        h("dt", {}, "leave-one-out, exact"), this.left, h("dt", {}, "ξα bound"), this.bound,
        h("dt", {}, "a refit takes"), this.refit, h("dt", {}, "differs from a refit by"), this.agrees));
  }

  legendItems() {
    return SETS.map((set, code) => h("li", {}, sample(0, code, this.board), sample(1, code, this.board),
      ["reserve, outside the margin", "margin vector", "error vector"][code]));
  }

  // ---------------------------------------------------------------- changes

  send(action, stamp = performance.now()) {
    if (!this.state) return; // there is no canvas yet
    this.queue.push(action, stamp, action.gesture === undefined ? null : `gesture ${action.gesture}`);
  }

  travel(to, stamp = performance.now()) {
    if (to < 0 || to > Number(this.time.max)) return;
    this.time.value = to;
    this.queue.push({ action: "travel", to }, stamp, "travel");
  }

  forget(id) {
    if (id === null) return;
    if (id === this.board.selected) this.hand.selectNext();
    this.send({ action: "forget", point: id });
  }

  reweight(id, by) {
    const point = this.board.points.find((each) => each.id === id);
    if (!point) return;
    const at = WEIGHTS.findIndex((weight) => weight >= point.weight);
    const weight = WEIGHTS[Math.max(0, Math.min(WEIGHTS.length - 1, (at < 0 ? WEIGHTS.length : at) + by))];
    if (weight === point.weight) return;
    point.weight = weight; // at once, so that the next key goes on from here
    this.send({ action: "reweight", point: id, weight });
  }

  // ---------------------------------------------------------------- what the server answers

  show(state, job) {
    this.session = state.session;
    sessionStorage.setItem(KEPT, state.session);
    Object.assign(this, { state });
    const { board } = this;
    board.view = state.view;
    board.values = decodeGrid(state.grid);
    board.points = state.points.map(([id, x, y, label, weight, set, alpha]) => ({ id, x, y, label, weight, set, alpha }));
    this.hand.keepPlaces();
    if (job) this.measure(job);
    board.ask();
    if (state.entry) {
      board.flash(state.entry.moved.map(([id]) => id));
      this.log.add(state.entry, job?.action.gesture);
    }
    this.waitingText.hidden = state.grid !== null;
    this.showControls(state);
    this.showSelected();
    this.problem.replaceChildren();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => { this.estimating = this.estimate(); }, 350);
  }

  // From the input to the frame that shows its effect; benchmarks/playground.py observes it.
  measure(job) {
    requestAnimationFrame(() => setTimeout(() => {
      performance.measure("input-to-paint", { start: job.stamp, end: performance.now(), detail: job.action.action });
      performance.clearMeasures("input-to-paint");
    }));
  }

  showControls(state) {
    const { position, length, dropped } = state.history;
    this.time.max = length;
    if (!this.queue.has("travel")) this.time.value = position;
    this.time.disabled = length === 0;
    this.timeText.textContent = length ? `${position} of ${length}` : "no change yet";
    this.time.title = dropped ? `The first ${dropped} changes can not be taken back any more.` : "";
    this.undo.disabled = position === 0;
    this.redo.disabled = position === length;
    for (const [range, text, value] of [[this.rangeC, this.textC, state.C], [this.rangeGamma, this.textGamma, state.gamma]]) {
      if (this.queue.idle) {
        range.value = Math.log10(value);
        text.textContent = String(Number(value.toPrecision(3)));
      }
    }
    this.gammaField.hidden = state.kernel === "linear";
    this.kernel.textContent = `${state.kernel} kernel${state.kernel === "poly" ? ", degree 3" : ""}`;
    const counted = [0, 0, 0];
    for (const point of this.board.points) counted[point.set]++;
    this.counts.replaceChildren(...[1, 2, 0].map((code) => h("div", {}, h("b", { class: "numbers" }, String(counted[code])), ` ${SETS[code]}`)));
    this.axisX.textContent = state.axes[0];
    this.axisY.textContent = state.axes[1];
    state.classes.forEach((name, at) => { this.labels[at].textContent = name; });
    this.note.textContent = state.note ? `${state.note}.` : "";
    if (!this.legend.firstChild) this.drawLegend();
  }

  showSelected() {
    const point = this.board.points.find((each) => each.id === this.board.selected);
    this.chosenBox.hidden = !point;
    if (!point) return;
    const name = this.state.classes[point.label];
    this.chosen.textContent = `Point ${point.id}: ${name}, ${SETS[point.set]} vector, α = ${Number(point.alpha.toPrecision(3))}`;
    this.weight.value = String(WEIGHTS.find((weight) => weight >= point.weight) ?? 100);
  }

  async estimate() {
    const { version, session } = this.state;
    const shown = () => !this.ending.signal.aborted && session === this.session;
    try {
      const { estimates } = await this.api.get(`${this.path}/estimates`);
      if (!shown() || version !== this.state.version) return;
      // There are none without a boundary, and none where rounding forbids an exact optimum.
      const text = (value) => (!estimates ? "–" : value === null ? "not exact" : percent(value));
      this.left.textContent = text(estimates?.leave_one_out);
      this.bound.textContent = text(estimates?.xi_alpha);
      this.refit.textContent = estimates ? seconds(estimates.refit_microseconds / 1e6) : "–";
      this.agrees.textContent = estimates ? estimates.difference.toExponential(0) : "–";
      this.log.refit = estimates?.refit_microseconds ?? null;
    } catch (error) {
      if (shown()) toast(error.message);
    }
  }
}
