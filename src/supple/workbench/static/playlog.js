// The log of the playground: what each exact update did, in words.

import { h, plural, seconds } from "./dom.js";

const MOST = 100;
const ROUTES = { path: "exact path", smo: "warm-started batch solver", none: "nothing to solve" };

const tiny = (value) => (value === 0 ? "0" : value.toExponential(1));

function title(entry) {
  const names = {
    learn: `Learned point ${entry.point}`,
    forget: `Forgot point ${entry.point}`,
    move: `Moved point ${entry.point}`,
    reweight: `Changed the weight of point ${entry.point}`,
    C: "Moved C",
    gamma: "Changed gamma",
    travel: "Went through time",
  };
  return names[entry.kind] || entry.kind;
}

function route(entry) {
  if (!entry.steps.length) return "no update was needed";
  const counts = new Map();
  for (const step of entry.steps) counts.set(step.route, (counts.get(step.route) || 0) + 1);
  const breakpoints = entry.steps.reduce((sum, step) => sum + step.breakpoints, 0);
  const iterations = entry.steps.reduce((sum, step) => sum + step.iterations, 0);
  const names = [...counts].map(([name, n]) => (ROUTES[name] || name) + (n > 1 ? ` ×${n}` : ""));
  const counted = counts.has("path") || !iterations
    ? plural(breakpoints, "breakpoint") : plural(iterations, "iteration");
  return `${names.join(", ")}, ${counted}`;
}

function moves(entry) {
  const own = entry.joined ? `joined the ${entry.joined} set; ` : entry.left ? `left the ${entry.left} set; ` : "";
  if (!entry.moved.length) return `${own}no other vector changed its set`;
  const shown = entry.moved.slice(0, 4).map(([point, from, to]) => `${point} ${from} → ${to}`);
  const more = entry.moved.length > 4 ? ` and ${entry.moved.length - 4} more` : "";
  return `${own}${plural(entry.moved.length, "vector")} changed: ${shown.join(", ")}${more}`;
}

export class Log {
  constructor() {
    this.element = h("div", { class: "playlog", role: "log", tabIndex: 0, "aria-live": "polite", "aria-label": "What each update did, the latest first" });
    this.refit = null;
    this.last = null;
  }

  add(entry, gesture) {
    const item = this.item(entry);
    this.element.setAttribute("aria-busy", String(gesture !== undefined && gesture === this.gesture));
    if (gesture !== undefined && gesture === this.gesture) this.element.firstChild.replaceWith(item);
    else this.element.prepend(item);
    this.gesture = gesture;
    while (this.element.children.length > MOST) this.element.lastChild.remove();
  }

  settle() {
    this.element.setAttribute("aria-busy", "false");
  }

  item(entry) {
    const many = entry.updates > 1 ? ` · ${entry.updates} exact updates` : "";
    const time = seconds(entry.microseconds / 1e6);
    const factor = this.refit ? this.refit / entry.microseconds : 0;
    const ratio = this.refit && entry.kind !== "travel"
      ? ` (a refit ${seconds(this.refit / 1e6)}${factor >= 1.5 ? `, ${factor.toFixed(1)} × as long` : ""})` : "";
    const margin = [entry.margin_before, entry.margin_after];
    const shift = margin[0] !== null && margin[1] !== null && entry.kind !== "travel"
      ? ` · y f(x) ${margin[0].toFixed(3)} → ${margin[1].toFixed(3)}` : "";
    return h("div", { class: "entry" },
      h("div", { class: "row spread" }, h("b", {}, title(entry) + many), h("span", { class: "numbers" }, time + ratio)),
      h("p", {}, `${route(entry)} · ${moves(entry)}`),
      h("p", { class: "muted numbers" }, `KKT violation ${tiny(entry.kkt_before)} → ${tiny(entry.kkt_after)}${shift}`));
  }
}
