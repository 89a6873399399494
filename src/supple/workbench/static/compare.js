// The Compare tab: choose machines on the left, watch runs on the right.

import { count, field, h, icon, plural, select, tip, toast, trouble } from "./dom.js";
import { load, save, studyOf, sweepValues } from "./draft.js";
import { Results } from "./results.js";

const FAVOURITES = ["svc", "libsvm", "lasvm", "simple", "rvm"];
let state = null;

export async function mount(element, api) {
  const ids = (api.route[0] || "").split("+").filter(Boolean);
  const machines = await api.get("/api/machines");
  if (!element.isConnected) return; // another tab was chosen in the meantime
  const draft = load();
  draft.machines ??= FAVOURITES.map((key) => ({ label: key, machine: key, params: {} }));
  state = { api, draft, kinds: new Map(machines.map((each) => [each.key, each])), results: new Results(api, ids) };
  const setup = h("form", { class: "setup stack", "aria-label": "What is compared", onsubmit: (event) => {
    event.preventDefault();
    run();
  } });
  state.setup = setup;
  element.append(
    h("div", { class: "title" }, h("h1", {}, "Compare"),
      h("p", {}, "How accurate, how complex and how fast are machines as the training set grows?")),
    h("div", { class: `split wide${ids.length ? " has-run" : ""}` }, setup, state.results.element));
  drawSetup();
  await state.results.start();
}

export function unmount() {
  state?.results.stop();
  state = null;
}

const keep = () => save(state.draft);

function drawSetup() {
  const { draft, setup } = state;
  const problem = h("div", { class: "problem" });
  state.problem = problem;
  const small = matchMedia("(max-width: 900px)").matches;
  const body = [dataCard(draft), machinesCard(draft), protocolCard(draft)];
  const form = [h("div", { class: "stack" }, body),
    h("div", { class: "go" }, problem, h("button", { class: "primary wide", id: "run" }, icon("play"), "Run"))];
  const folded = small && state.results.ids.length > 0;
  setup.replaceChildren(...(folded ? [h("details", { open: state.unfolded, ontoggle: (event) => { state.unfolded = event.target.open; } },
    h("summary", {}, "Set up another run"), form)] : form));
}

function dataCard({ data }) {
  const order = { random: "random order", "as is": "order of the source", sorted: `sorted by ${data.by}`, drift: "classes change half-way" }[data.order];
  return h("section", { class: "card row spread", "aria-label": "Data" },
    h("div", {}, h("h2", {}, data.name), h("p", { class: "small muted" },
      `${order}, ${data.prepare === "none" ? "features as they are" : "standardised"}${data.rows ? `, ${count(data.rows)} rows` : ""}`)),
    h("a", { class: "button compact", href: "#/data" }, "Change", h("span", { class: "visually-hidden" }, "the data")));
}

// machines

function machinesCard(draft) {
  const { kinds } = state;
  const others = [...kinds.values()].map((each) => [each.key, each.title]);
  const adder = select([["", "Add a machine …"], ...others], "", (key) => {
    if (!key) return;
    const taken = new Set(draft.machines.map((each) => each.label));
    let label = key;
    for (let i = 2; taken.has(label); i++) label = `${key} ${i}`;
    draft.machines.push({ label, machine: key, params: {} });
    state.open = label;
    keep();
    drawSetup();
    state.setup.querySelector(".machine:last-of-type summary")?.focus();
  });
  adder.setAttribute("aria-label", "Add a machine");
  return h("section", { class: "card", "aria-label": "Machines" }, h("header", {}, h("h2", {}, "Machines"),
    h("p", {}, "Open one to set its parameters.")),
  draft.sweep
    ? sweepFields(draft)
    : [h("ul", { class: "machines" }, draft.machines.map((each) => machineItem(draft, each))), adder],
  h("div", { class: "sweep-switch" }, h("label", { class: "check" }, h("input", { type: "checkbox", checked: Boolean(draft.sweep), onchange: (event) => {
    draft.sweep = event.target.checked ? { machine: "svc", parameter: "C", values: "0.01, 0.1, 1, 10, 100", params: {} } : null;
    keep();
    drawSetup();
  } }), "Sweep one parameter instead")));
}

const explain = (kind) => tip(`About ${kind.title}`, h("b", {}, kind.title), h("span", {}, kind.summary),
  h("span", { class: "equation" }, kind.equation), h("span", { class: "muted" }, kind.paper));

function machineItem(draft, machine) {
  const kind = state.kinds.get(machine.machine);
  const given = Object.entries(machine.params).map(([name, value]) => `${name} = ${value}`).join(", ");
  const name = h("input", { type: "text", value: machine.label, maxLength: 60, onchange: () => {
    machine.label = name.value.trim() || machine.machine;
    keep();
    drawSetup();
  } });
  return h("li", { class: "machine" },
    h("details", { open: state.open === machine.label, ontoggle: (event) => { if (event.target.open) state.open = machine.label; } },
      h("summary", {}, h("span", { class: "machine-name" }, machine.label), h("span", { class: "small muted" }, given || kind.title)),
      h("div", { class: "fields" }, field("Label", name), parameterFields(kind, machine.params))),
    explain(kind),
    h("button", { type: "button", class: "quiet round compact", "aria-label": `Remove ${machine.label}`, onclick: () => {
      draft.machines = draft.machines.filter((each) => each !== machine);
      keep();
      drawSetup();
    } }, icon("close")));
}

function parameterFields(kind, params, but = null) {
  return kind.parameters.filter((each) => each.name !== but).map((parameter) => {
    const change = (value) => {
      if (value === "" || String(value) === String(parameter.default)) delete params[parameter.name];
      else params[parameter.name] = value;
      keep();
    };
    const value = params[parameter.name] ?? "";
    const control = parameter.kind === "choice"
      ? select(parameter.choices, value || parameter.default, change)
      : h("input", { type: "text", inputMode: "decimal", value, placeholder: String(parameter.default),
        onchange: (event) => change(event.target.value.trim()) });
    const more = parameter.kind !== "choice" && parameter.choices.length ? ` A number, or ${parameter.choices.join(", ")}.` : "";
    return field(parameter.name, control, null, tip(`About ${parameter.name}`, h("b", {}, parameter.name),
      h("span", {}, parameter.help + more), h("span", { class: "muted" }, `If empty: ${parameter.default}`)));
  });
}

function sweepFields(draft) {
  const { sweep } = draft;
  const kind = state.kinds.get(sweep.machine);
  const numeric = kind.parameters.filter((each) => each.kind !== "choice").map((each) => each.name);
  const set = (name, redraw) => (value) => {
    sweep[name] = value;
    if (name === "machine") sweep.params = {};
    if (!state.kinds.get(sweep.machine).parameters.some((each) => each.name === sweep.parameter)) sweep.parameter = "gamma";
    keep();
    if (redraw) drawSetup();
  };
  const values = h("input", { type: "text", value: sweep.values, onchange: () => set("values", false)(values.value) });
  return h("div", { class: "stack tight" },
    h("div", { class: "row nowrap" }, field("Machine", select([...state.kinds.values()].map((each) => [each.key, each.title]), sweep.machine, set("machine", true))), explain(kind)),
    field("Parameter", select(numeric, sweep.parameter, set("parameter", true)), kind.parameters.find((each) => each.name === sweep.parameter)?.help),
    field("Values", values, "Numbers with commas between them; each becomes one machine."),
    h("details", {}, h("summary", { class: "small" }, "Other parameters"), h("div", { class: "fields" }, parameterFields(kind, sweep.params, sweep.parameter))));
}

// protocol

function protocolCard(draft) {
  const number = (name, least, most, step = 1, optional = false) => {
    const control = h("input", { type: "number", min: least, max: most, step, required: !optional, value: draft[name] ?? "", onchange: () => {
      draft[name] = control.value === "" ? null : Number(control.value);
      keep();
    } });
    return control;
  };
  const name = h("input", { type: "text", maxLength: 120, value: draft.name, placeholder: "named after data and machines",
    onchange: () => { draft.name = name.value; keep(); } });
  return h("section", { class: "card", "aria-label": "How they are measured" }, h("header", {}, h("h2", {}, "Measurement")),
    h("div", { class: "stack tight" },
      field("Accuracy on", select([["held-out", "rows that are held out"], ["prequential", "each example before it is learned"]], draft.protocol, (value) => {
        draft.protocol = value;
        keep();
        drawSetup();
      })),
      h("div", { class: "fields" },
        draft.protocol === "held-out" && field("Held out", number("test_share", 0.05, 0.9, 0.05), "Share of the rows."),
        field("Training sizes", number("points", 1, 1000), "Points of a curve."),
        field("Repetitions", number("repetitions", 1, 1000), "Two or more for the Bayesian comparison.")),
      h("details", {}, h("summary", { class: "small" }, "Name, batches, seed"), h("div", { class: "stack tight" },
        field("Name of the run", name),
        h("div", { class: "fields" },
          field("Batch size", number("batch_size", 1, 1e6, 1, true), "Empty: all of a step at once."),
          field("Seed", number("seed", 0, 2147483647), "The same seed gives the same figures."))))));
}

async function run() {
  const { draft, api, problem } = state;
  problem.replaceChildren();
  try {
    if (draft.sweep && !sweepValues(draft.sweep.values).length) throw new Error("Give the sweep two values or more, such as 0.1, 1, 10.");
    if (!draft.sweep && !draft.machines.length) throw new Error("Add a machine first.");
    const begun = await api.post("/api/runs", { spec: studyOf(draft), data_id: draft.data_id });
    toast(`Run begun: ${plural(begun.spec.machines.length, "machine")}`);
    location.hash = `#/compare/${begun.id}`;
  } catch (error) {
    problem.replaceChildren(trouble(error, "This cannot be run"));
  }
}
