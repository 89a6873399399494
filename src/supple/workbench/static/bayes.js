// The Bayesian comparison of the machines of one run.

import { field, h, select, tip, trouble } from "./dom.js";

const ROPES = [["0.005", "0.5 points"], ["0.01", "1 point"], ["0.02", "2 points"], ["0.05", "5 points"]];

export function bayesCard(api, run, named) {
  const body = h("div", {});
  let chosen = null;
  const show = async (rope) => {
    chosen = rope;
    try {
      const pairs = await api.get(`/api/runs/${run.id}/bayes`, { rope });
      if (chosen === rope) body.replaceChildren(pairs.length ? table(pairs) : h("p", { class: "muted" }, "No two machines have two repetitions in common."));
    } catch (error) {
      if (chosen === rope) body.replaceChildren(trouble(error));
    }
  };
  show("0.01");
  return h("section", { class: "card bayes", "aria-label": `Bayesian comparison${named ? ` of ${run.name}` : ""}` },
    h("header", {}, h("h2", {}, "Which machine is better?"),
      tip("About the Bayesian comparison", h("b", {}, "Bayesian correlated t-test"),
        h("span", {}, "How probable it is, after these repetitions, that one machine is more accurate, that both are practically equal, or that the other is."),
        h("span", { class: "equation" }, "μ | d ~ St(n − 1, d̄, (1/n + ρ/(1 − ρ)) s²),  ρ = test share"),
        h("span", { class: "muted" }, "Benavoli, Corani, Demšar & Zaffalon: Time for a change. JMLR 18, 2017.")),
      named && h("p", {}, run.name)),
    h("div", { class: "rope" }, field("Equal if closer than", select(ROPES, "0.01", show))), body);
}

const share = (value) => `${(100 * value).toFixed(0)} %`;

function table(pairs) {
  return h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Pairs of machines" }, h("table", {},
    h("thead", {}, h("tr", {}, ["First", "Second", "First better · equal · second better", "Difference in points, 95 %"].map((text, i) =>
      h("th", { scope: "col", class: i === 3 ? "number" : "" }, text)))),
    h("tbody", {}, pairs.map((pair) => h("tr", {}, h("th", { scope: "row" }, pair.first), h("td", {}, pair.second),
      h("td", { class: "bar-cell" }, bar(pair)),
      h("td", { class: "number" }, `${(100 * pair.mean).toFixed(1)}  [${(100 * pair.low).toFixed(1)}, ${(100 * pair.high).toFixed(1)}]`))))));
}

function bar(pair) {
  const parts = [["first", pair.first_better], ["equal", pair.equivalent], ["second", pair.second_better]];
  const text = `${pair.first} better ${share(pair.first_better)}, equal ${share(pair.equivalent)}, ${pair.second} better ${share(pair.second_better)}`;
  return h("div", { class: "bar", role: "img", "aria-label": text }, parts.map(([kind, value]) => {
    const part = h("span", { class: `bar-${kind}` }, value >= 0.12 ? share(value) : "");
    part.style.width = `${100 * value}%`;
    return part;
  }));
}
