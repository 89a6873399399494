// What a run can be taken away as.

import { h, icon } from "./dom.js";

const KINDS = [
  ["html", "Report", "one page that opens offline"],
  ["csv", "CSV", "every measurement"],
  ["json", "JSON", "to share and import"],
  ["toml", "TOML", "for supple compare"],
  ["py", "Python script", "repeats the run"],
];

export function exportMenu(run) {
  const menu = h("details", { class: "menu",
    onkeydown: (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      menu.querySelector("summary").focus();
    },
    onfocusout: (event) => { if (!menu.contains(event.relatedTarget)) menu.open = false; } },
  h("summary", { class: "button compact" }, icon("download"), "Export"),
  h("ul", {}, KINDS.map(([kind, title, detail]) => h("li", {},
    h("a", { href: `/api/runs/${run.id}/export/${kind}`, download: "" }, h("b", {}, title), h("span", { class: "small muted" }, detail)))),
  run.data_id && h("li", {}, h("a", { href: `/api/data/${run.data_id}/file`, download: "" }, h("b", {}, "Data"), h("span", { class: "small muted" }, "the uploaded file")))));
  return menu;
}
