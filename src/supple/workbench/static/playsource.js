// Where the points of the playground come from.

import { field, h, select } from "./dom.js";

export class Source {
  constructor(api, begin) {
    this.api = api;
    this.begin = begin;
    this.number = h("input", { type: "number", min: 2, max: 1000, step: 1, value: 200, required: true });
    this.seed = h("input", { type: "number", min: 0, max: 2147483648, step: 1, value: 0, required: true });
    this.kernel = select(["rbf"], "rbf", () => {});
    this.choices = h("div", { class: "fields" });
    this.element = h("section", { class: "card" }, h("header", {}, h("h2", {}, "Data")),
      h("form", { class: "stack play-tight", onsubmit: (event) => { event.preventDefault(); begin(this.wanted()); } },
        this.set = h("div", {}), this.choices,
        h("div", { class: "fields" }, field("Points", this.number), field("Seed", this.seed), field("Kernel", this.kernel)),
        h("div", { class: "row" }, this.load = h("button", { class: "primary", disabled: true }, "Load"),
          h("button", { type: "button", onclick: () => begin({ source: "empty", kernel: this.kernel.value }) }, "Empty canvas"))));
  }

  async start() {
    const { generated, embedded, kernels } = await this.api.get("/api/playground/sources");
    const group = (label, names, kind) => h("optgroup", { label },
      names.map((name) => h("option", { value: `${kind}:${name}` }, name)));
    this.kernel.replaceChildren(...kernels.map((name) => h("option", { value: name }, name)));
    this.data = h("select", { onchange: () => this.describe() }, group("Drawn at random", generated, "generated"),
      group("Embedded sets", embedded, "embedded"));
    this.data.value = "generated:two moons";
    this.set.replaceChildren(field("Set", this.data));
    this.load.disabled = false;
  }

  get chosen() {
    const [source, ...name] = this.data.value.split(":");
    return { source, name: name.join(":") };
  }

  async describe() {
    const { source, name } = this.chosen;
    this.choices.replaceChildren();
    if (source !== "embedded") return;
    const { features, classes, rows } = await this.api.get(`/api/playground/sources/${encodeURIComponent(name)}`);
    if (this.chosen.name !== name) return;
    const pairs = features.map((feature, at) => [String(at), feature]);
    this.across = select(pairs, "0", () => {});
    this.up = select(pairs, String(Math.min(1, features.length - 1)), () => {});
    this.positive = select(classes, classes.at(-1), () => {});
    this.choices.replaceChildren(field("Across", this.across), field("Up", this.up),
      field(classes.length > 2 ? "Class against the others" : "Second class", this.positive, `${rows} rows`));
  }

  wanted() {
    const { source, name } = this.chosen;
    const wanted = { source, name, n: Number(this.number.value), seed: Number(this.seed.value), kernel: this.kernel.value };
    if (source === "embedded" && this.choices.firstChild) {
      wanted.features = [Number(this.across.value), Number(this.up.value)];
      wanted.positive = this.positive.value;
    }
    return wanted;
  }
}
