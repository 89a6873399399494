// The Data tab: choose a set or bring one, look at it, say how it is used.

import { count, field, h, icon, plural, say, select, toast, trouble, ask } from "./dom.js";
import { dataQuery, load, save } from "./draft.js";
import { marker, scatter } from "./scatter.js";

let state = null;

export async function mount(element, api) {
  const limits = await api.get("/api/about");
  if (!element.isConnected) return; // another tab was chosen in the meantime
  const mine = state = { api, draft: load(), limits, turn: 0, asked: 0 };
  const side = h("div", { class: "stack" });
  const view = h("section", { class: "stack", "aria-label": "The chosen data" });
  Object.assign(state, { side, view, lists: h("div", { class: "stack tight" }) });
  side.append(bringCard(), h("section", { class: "card", "aria-label": "Data sets that are there" }, state.lists));
  element.append(
    h("div", { class: "title" }, h("h1", {}, "Data"),
      h("p", {}, "Bring your own table or take one that comes with supple. All stays on this machine.")),
    h("div", { class: "split" }, side, view));
  state.redraw = () => state === mine && mine.paint?.();
  addEventListener("themechange", state.redraw);
  state.observer = new ResizeObserver(() => state === mine && mine.paint?.());
  await refresh();
  if (state === mine) await choose(mine.draft);
}

export function unmount() {
  if (!state) return; // it waited for its first answer
  removeEventListener("themechange", state.redraw);
  state.observer.disconnect();
  state = null;
}

// bring your own

function bringCard() {
  const problem = h("div", {});
  const input = h("input", { type: "file", id: "file", class: "visually-hidden", accept: ".csv,.tsv,.txt,.data,.parquet,.libsvm,.svm",
    onchange: () => input.files[0] && send(input.files[0], input.files[0].name, problem) });
  const zone = h("label", { class: "drop", htmlFor: "file",
    ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    ondragleave: () => zone.classList.remove("over"),
    ondrop: (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      const [file] = event.dataTransfer.files;
      if (file) send(file, file.name, problem);
    } },
  icon("upload"), h("span", {}, h("b", {}, "Drop a file here"), " or choose one"),
  h("span", { class: "small muted" }, `CSV, LIBSVM or Parquet, up to ${state.limits.max_bytes / 1e6} MB and ${plural(state.limits.max_rows, "row")}`));
  const text = h("textarea", { rows: 5, class: "mono", spellcheck: false, placeholder: "age,weight,kind\n3,4.1,cat\n7,22.5,dog" });
  const paste = h("details", { class: "paste" }, h("summary", {}, "Paste a table"),
    field("Rows of the table, with a line of column names", text),
    h("button", { type: "button", class: "primary", onclick: () => send(new Blob([text.value]), "pasted.csv", problem) }, "Use this table"));
  return h("section", { class: "card bring", "aria-label": "Your own data" }, h("header", {}, h("h2", {}, "Your own data")),
    input, zone, paste, problem);
}

async function send(body, name, problem) {
  const mine = state;
  problem.replaceChildren(h("p", { class: "muted small" }, `Reading ${name} …`));
  try {
    if (body.size > mine.limits.max_bytes)
      throw new Error(`${name} has ${(body.size / 1e6).toFixed(1)} MB; the workbench takes at most ${mine.limits.max_bytes / 1e6} MB. Take fewer rows.`);
    const upload = await mine.api.upload("/api/data/upload", { name }, body);
    if (state !== mine) return;
    problem.replaceChildren();
    toast(`${upload.name}: ${plural(upload.rows, "row")}`);
    await refresh();
    if (state === mine) await pick("file", upload.name, upload.id);
  } catch (error) {
    problem.replaceChildren(trouble(error, "The table cannot be read"));
  }
}

// the lists

async function refresh() {
  const mine = state;
  const asked = ++mine.asked;
  const sets = await mine.api.get("/api/data");
  if (state !== mine || asked !== mine.asked) return;
  mine.sets = sets;
  showLists();
}

function showLists() {
  const { sets, draft, lists } = state;
  const chosen = (source, key) => draft.data.source === source && key === (source === "file" ? draft.data_id : draft.data.name);
  const item = (source, key, name, facts, id = null) => h("li", {},
    h("button", { type: "button", class: "pick", "aria-pressed": String(chosen(source, key)), onclick: () => pick(source, name, id) },
      h("span", { class: "pick-name" }, name), h("span", { class: "small muted numbers" }, facts)),
    id && h("button", { type: "button", class: "quiet round compact", "aria-label": `Delete ${name}`, onclick: () => remove(id, name) }, icon("trash")));
  const group = (title, items) => items.length > 0 && [h("h2", {}, title), h("ul", { class: "picks" }, items)];
  lists.replaceChildren(...[
    group("Uploaded", sets.uploads.map((each) => item("file", each.id, each.name, plural(each.rows, "row"), each.id))),
    group("Comes with supple", sets.embedded.map((each) =>
      item("embedded", each.name, each.name, `${count(each.rows)} × ${each.features}, ${each.classes} classes`))),
    group("Drawn streams", sets.generators.map((each) =>
      item("generator", each.name, each.name, `${count(each.rows)} × ${each.features}`))),
  ].flat().filter(Boolean));
}

async function remove(id, name) {
  if (!(await ask(`Delete ${name}?`, "Results of runs on it stay in the history.", "Delete"))) return;
  await state.api.remove(`/api/data/${id}`);
  if (state.draft.data_id === id) await pick("embedded", "wbc");
  await refresh();
}

async function pick(source, name, id = null) {
  const { draft } = state;
  const rows = source === "generator" ? 2000 : null;
  draft.data = { ...draft.data, source, name, target: null, by: null, rows, params: {},
    order: source === "generator" ? "as is" : draft.data.order === "sorted" ? "random" : draft.data.order };
  draft.data_id = id;
  save(draft);
  showLists();
  await choose(draft);
}

// the chosen set

async function choose(draft) {
  const mine = state;
  const turn = ++mine.turn;
  const latest = () => state === mine && turn === mine.turn;
  mine.paint = null;
  mine.view.setAttribute("aria-busy", "true");
  try {
    const summary = await mine.api.get("/api/data/summary", dataQuery(draft));
    if (!latest()) return;
    show(summary);
    say(`${summary.name}: ${plural(summary.rows, "row")}`);
  } catch (error) {
    if (latest()) mine.view.replaceChildren(trouble(error, "This data set cannot be shown"));
  } finally {
    if (latest()) mine.view.removeAttribute("aria-busy");
  }
}

function show(summary) {
  const { view } = state;
  const lines = summary.about.split("\n").filter(Boolean);
  const missing = summary.missing ? `${count(summary.missing)} missing values` : "no missing values";
  view.replaceChildren(
    h("div", { class: "card" },
      h("div", { class: "row spread" }, h("h2", { class: "big" }, summary.name),
        h("a", { class: "button primary", href: "#/compare" }, "Compare machines on it", icon("arrow"))),
      lines.length > 0 && h("p", { class: "muted" }, lines[0]),
      h("div", { class: "row chips" },
        [plural(summary.rows, "row"), plural(summary.n_columns - 1, "feature"),
          summary.classes.length > 0 && plural(summary.classes.length, "class", "classes"), missing, summary.format]
          .filter(Boolean).map((text) => h("span", { class: "chip numbers" }, text))),
      summary.problem && h("div", { class: "notice warn", role: "alert" }, h("h3", {}, "Choose another target"), h("p", {}, summary.problem)),
      summary.notes.map((note) => h("p", { class: "small muted" }, note)),
      lines.length > 1 && h("details", {}, h("summary", { class: "small" }, "Source, citation and licence"),
        lines.slice(1).map((line) => h("p", { class: "small muted" }, line)))),
    h("div", { class: "pair" }, pictureCard(summary), useCard(summary)),
    columnsCard(summary));
}

function pictureCard(summary) {
  const canvas = h("canvas", { class: "scatter", role: "img", "aria-label": "Projection on two directions; loading" });
  const caption = h("p", {});
  const legend = h("ul", { class: "legend" });
  const card = h("section", { class: "card" }, h("header", {}, h("h2", {}, "How it looks"), caption), canvas, legend);
  if (!summary.problem) project(canvas, caption, legend, summary);
  else canvas.replaceWith(h("p", { class: "muted" }, "There is nothing to colour before the target is chosen."));
  return card;
}

async function project(canvas, caption, legend, summary) {
  const mine = state;
  const turn = mine.turn;
  try {
    const points = await mine.api.get("/api/data/projection", { ...dataQuery(mine.draft), prepare: mine.draft.data.prepare });
    if (state !== mine || turn !== mine.turn) return;
    const percent = points.explained.map((share) => `${(100 * share).toFixed(0)} %`);
    const part = points.rows > points.x.length ? `${count(points.x.length)} of ${count(points.rows)} rows; ` : "";
    caption.textContent = `Two principal components; ${part}${percent.join(" + ")} of the variance`;
    canvas.setAttribute("aria-label", `${plural(points.x.length, "example")} on their two principal components, coloured by ${plural(points.classes.length, "class", "classes")}`);
    const counts = new Map(summary.classes.map((each) => [each.label, each.count]));
    mine.paint = () => {
      scatter(canvas, points);
      legend.replaceChildren(...points.classes.slice(0, 16).map((label, i) =>
        h("li", {}, marker(i), h("span", {}, label), h("span", { class: "muted numbers" }, count(counts.get(label))))),
      points.classes.length > 16 ? h("li", { class: "muted" }, `and ${points.classes.length - 16} more`) : "");
    };
    mine.paint();
    mine.observer.disconnect();
    mine.observer.observe(canvas);
  } catch (error) {
    if (state === mine) canvas.replaceWith(trouble(error, "No picture"));
  }
}

function useCard(summary) {
  const { draft } = state;
  const { data } = draft;
  const change = (name, value, again = true) => {
    data[name] = value;
    save(draft);
    if (again) choose(draft);
  };
  const names = summary.columns.map((each) => each.name);
  const sortable = summary.targets.length ? summary.targets : [...names, "class"];
  const orders = [["random", "random"], ["as is", "as in the source"],
    ["sorted", "sorted by a column"], ["drift", "classes change half-way"]];
  const rows = h("input", { type: "number", min: 4, step: 1, value: data.rows ?? "", placeholder: `all ${count(summary.rows)}`,
    onchange: () => change("rows", rows.value ? Math.max(4, Math.round(Number(rows.value))) : null, false) });
  return h("section", { class: "card" }, h("header", {}, h("h2", {}, "How it is used")), h("div", { class: "stack tight" },
    summary.targets.length > 1 && field("Target", select(summary.targets, summary.target, (value) => change("target", value)),
      "The column with the classes to predict."),
    field("Order of arrival", select(orders, data.order, (value) => {
      data.by = value === "sorted" ? data.by || sortable[0] : null;
      change("order", value);
    }), data.order === "random" ? "Shuffled anew in each repetition." : "In which order the machines meet the examples."),
    data.order === "sorted" && field("Sorted by", select(sortable, data.by, (value) => change("by", value, false))),
    field("Preparation", select([["standardise", "mean 0, variance 1"], ["none", "as they are"]], data.prepare,
      (value) => change("prepare", value)), "Kernels compare distances: features of one scale are compared fairly."),
    field("Rows", rows, "Leave it empty to take all.")));
}

function columnsCard(summary) {
  const { names, rows } = summary.preview;
  const kinds = { number: "number", nominal: "text" };
  return h("section", { class: "card" }, h("header", {}, h("h2", {}, "Columns"),
    summary.n_columns - 1 > summary.columns.length && h("p", {}, `The first ${summary.columns.length} of ${count(summary.n_columns)}`)),
  h("div", { class: "scroll tall", tabIndex: 0, role: "region", "aria-label": "Columns" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Column", "Type", "Different values", "Missing"].map((text, i) =>
      h("th", { scope: "col", class: i > 1 ? "number" : "" }, text)))),
    h("tbody", {}, summary.columns.map((column) => h("tr", {}, h("th", { scope: "row" }, column.name),
      h("td", {}, kinds[column.kind], column.name === summary.target && h("span", { class: "chip inline" }, "target")),
      h("td", { class: "number" }, count(column.distinct)),
      h("td", { class: "number" }, column.missing ? count(column.missing) : "–")))))),
  h("details", {}, h("summary", {}, "First rows"),
    h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "First rows" }, h("table", { class: "mono small" },
      names.length > 0 && h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))))));
}
