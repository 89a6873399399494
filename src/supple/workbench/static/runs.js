// The Runs tab: the history, with names, notes, export and import.

import { ask, count, h, icon, plural, toast, trouble, when } from "./dom.js";
import { fromRun } from "./draft.js";
import { exportMenu } from "./exports.js";
import { badge } from "./results.js";

const GOING = ["queued", "running", "pausing", "paused"];
let state = null;

export async function mount(element, api) {
  state = { api, chosen: new Set(), list: h("ul", { class: "history" }), problem: h("div", {}), filter: "", asked: 0 };
  const mine = state;
  state.compare = h("button", { type: "button", class: "primary", disabled: true, onclick: () => { location.hash = `#/compare/${[...mine.chosen].join("+")}`; } }, "Compare selected");
  const file = h("input", { type: "file", accept: ".json", class: "visually-hidden", id: "import", onchange: () => file.files[0] && take(file) });
  const search = h("input", { type: "search", placeholder: "Find by name, data or note", "aria-label": "Find runs", oninput: () => {
    mine.filter = search.value.toLowerCase();
    draw();
  } });
  element.append(
    h("div", { class: "title" }, h("h1", {}, "Runs"), h("p", {}, "Every run is kept on this machine until you delete it.")),
    h("div", { class: "row toolbar" }, h("div", { class: "grow" }, search), state.compare,
      h("label", { class: "button", htmlFor: "import" }, icon("upload"), "Import a run"), file),
    state.problem, state.list);
  await refresh();
}

export function unmount() {
  clearTimeout(state?.timer);
  state = null;
}

async function refresh() {
  const mine = state;
  if (!mine) return; // another tab was chosen in the meantime
  const asked = ++mine.asked;
  const runs = await mine.api.get("/api/runs");
  if (state !== mine || asked !== mine.asked) return;
  const before = JSON.stringify(mine.runs);
  mine.runs = runs;
  const writing = mine.list.contains(document.activeElement) && /TEXTAREA|INPUT/.test(document.activeElement.tagName);
  if (JSON.stringify(runs) !== before && !writing) draw();
  clearTimeout(mine.timer);
  if (runs.some((run) => GOING.includes(run.state))) mine.timer = setTimeout(() => refresh().catch(() => {}), 1000);
}

async function take(input) {
  const mine = state;
  try {
    const run = await mine.api.upload("/api/runs/import", {}, input.files[0]);
    mine.problem.replaceChildren();
    toast(`${run.name} is in the history now.`);
    await refresh();
  } catch (error) {
    mine.problem.replaceChildren(trouble(error, "This run cannot be imported"));
  } finally {
    input.value = "";
  }
}

function draw() {
  const { runs, filter, list, chosen } = state;
  for (const id of chosen) if (!runs.some((run) => run.id === id)) chosen.delete(id);
  state.compare.disabled = !chosen.size;
  const text = (run) => `${run.name} ${run.notes} ${run.spec.data.name}`.toLowerCase();
  const shown = runs.filter((run) => text(run).includes(filter));
  list.hidden = !shown.length;
  list.replaceChildren(...shown.map(item));
  state.empty?.remove();
  if (shown.length) return;
  state.empty = runs.length
    ? h("div", { class: "card empty" }, h("h2", {}, "No run is called so"), h("p", {}, "Take another word."))
    : h("div", { class: "card empty" }, icon("runs"), h("h2", {}, "The history is empty"),
      h("p", {}, "Runs appear here as soon as they begin and stay when the workbench is closed. A colleague's run can be imported."),
      h("a", { class: "button primary", href: "#/compare" }, "Compare machines", icon("arrow")));
  list.after(state.empty);
}

function item(run) {
  const { api, chosen } = state;
  const mine = state;
  const attempt = (action) => action.then(refresh).catch((error) => mine.problem.replaceChildren(trouble(error)));
  const box = h("input", { type: "checkbox", checked: chosen.has(run.id), disabled: !run.n_records, "aria-label": `Select ${run.name}`, onchange: () => {
    if (box.checked) chosen.add(run.id);
    else chosen.delete(run.id);
    mine.compare.disabled = !chosen.size;
  } });
  const name = h("input", { type: "text", class: "bare", value: run.name, maxLength: 200, "aria-label": `Name of ${run.name}`, onchange: () => {
    if (name.value.trim()) attempt(api.patch(`/api/runs/${run.id}`, { name: name.value.trim() }));
  } });
  const notes = h("textarea", { rows: run.notes ? 2 : 1, value: run.notes, maxLength: 10000, placeholder: "Notes", "aria-label": `Notes on ${run.name}`,
    onchange: () => attempt(api.patch(`/api/runs/${run.id}`, { notes: notes.value }).then(() => toast("Notes kept."))) });
  const { data, machines, repetitions } = run.spec;
  return h("li", { class: "card run-item", "data-run": run.id },
    h("div", { class: "pickbox" }, box),
    h("div", { class: "run-body" },
      h("div", { class: "row" }, name, badge(run)),
      h("p", { class: "small muted numbers" }, `${when(run.created)} · ${data.name} · ${machines.map((each) => each.label).join(", ")} · ${plural(repetitions, "repetition")} · ${count(run.n_records)} measurements`),
      run.error && h("p", { class: "small error" }, run.error), notes),
    h("div", { class: "row run-actions" },
      h("a", { class: "button compact", href: `#/compare/${run.id}` }, "Open", h("span", { class: "visually-hidden" }, run.name)),
      ["failed", "cancelled", "interrupted"].includes(run.state) && h("button", { type: "button", class: "compact", onclick: () => attempt(api.post(`/api/runs/${run.id}/restart`)) }, icon("again"), "Restart"),
      h("button", { type: "button", class: "compact", onclick: () => {
        fromRun(run);
        location.hash = "#/compare";
      } }, "Change and repeat"),
      run.n_records > 0 && exportMenu(run),
      h("button", { type: "button", class: "quiet round compact", "aria-label": `Delete ${run.name}`, onclick: async () => {
        if (await ask(`Delete “${run.name}”?`, "Its measurements and notes are lost. Export it first to keep them.", "Delete")) await attempt(api.remove(`/api/runs/${run.id}`));
      } }, icon("trash"))));
}
