// The shell: tabs by the hash of the address, theme, one tab mounted at a time.

import { api } from "./api.js";
import { h, icon, say, trouble } from "./dom.js";

const TABS = {
  data: ["Data", "./data.js"],
  compare: ["Compare", "./compare.js"],
  playground: ["Playground", "./playground.js"],
  stream: ["Stream", "./stream.js"],
  runs: ["Runs", "./runs.js"],
};

const main = document.getElementById("main");
const nav = document.getElementById("tabs");
let mounted = null;
let turn = 0;

function route() {
  const [path] = location.hash.replace(/^#\/?/, "").split("?");
  const [tab, ...rest] = path.split("/").map(decodeURIComponent);
  return { tab: tab in TABS ? tab : "data", rest };
}

async function show() {
  const mine = ++turn;
  const { tab, rest } = route();
  for (const link of nav.children) {
    if (link.dataset.tab === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${TABS[tab][0]} · supple workbench`;
  const module = await import(TABS[tab][1]);
  if (mine !== turn) return;
  mounted?.unmount();
  mounted = module;
  const element = h("div", { class: `tab tab-${tab}` });
  main.replaceChildren(element);
  try {
    await module.mount(element, Object.assign(Object.create(api), { route: rest }));
  } catch (error) {
    element.replaceChildren(trouble(error));
  }
  if (mine === turn) say(TABS[tab][0]);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  const other = theme === "dark" ? "light" : "dark";
  button.replaceChildren(icon(theme === "dark" ? "sun" : "moon"));
  button.setAttribute("aria-label", `Switch to the ${other} theme`);
  button.title = `Switch to the ${other} theme`;
  dispatchEvent(new Event("themechange"));
}

function chosenTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => {
    if (!localStorage.getItem("supple-theme")) setTheme(system.matches ? "dark" : "light");
  });
  setTheme(localStorage.getItem("supple-theme") || (system.matches ? "dark" : "light"));
}

document.getElementById("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("supple-theme", theme);
  setTheme(theme);
});

// The skip link must not be taken for a change of tab.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

async function start() {
  chosenTheme();
  const { tabs } = await api.get("/api/about");
  for (const key of Object.keys(TABS)) if (!tabs.includes(key)) delete TABS[key];
  nav.replaceChildren(...Object.entries(TABS).map(([key, [title]]) =>
    h("a", { href: `#/${key}`, "data-tab": key }, icon(key), title)));
  addEventListener("hashchange", show);
  await show();
}

start().catch((error) => main.replaceChildren(trouble(error)));
