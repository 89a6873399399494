// Small helpers to build the page. Texts become text nodes: nothing is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && !name.includes("-") && name !== "list" && name !== "form")
      element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const ICONS = {
  data: "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zm0 0v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  compare: "M3 20h18M5 16l5-6 4 3 6-8",
  playground: "M5 20C9 20 9 4 19 4M7 8h.01M16 17h.01M6 12h.01M18 12h.01",
  stream: "M2 9c3-4 6-4 9 0s6 4 11-1M2 16c3-4 6-4 9 0s6 4 11-1",
  runs: "M12 7v5l3.5 2M3.5 12a8.5 8.5 0 1 0 2.6-6.1M3 4v4h4",
  sun: "M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM12 1v2m0 18v2M4.2 4.2l1.4 1.4m12.8 12.8 1.4 1.4M1 12h2m18 0h2M4.2 19.8l1.4-1.4M18.4 5.6l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  upload: "M12 16V4m0 0L7 9m5-5 5 5M4 16v4h16v-4",
  play: "M7 4l13 8-13 8z",
  pause: "M8 5v14M16 5v14",
  stop: "M6 6h12v12H6z",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zm0-10v6m0-9.5v.01",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  download: "M12 4v12m0 0l-5-5m5 5l5-5M4 20h16",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  again: "M20 12a8 8 0 1 1-2.3-5.7M20 3v4h-4",
  arrow: "M5 12h14m-6-6l6 6-6 6",
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  const settings = {
    viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "stroke-width": "1.8",
    "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true",
  };
  for (const [key, value] of Object.entries(settings)) svg.setAttribute(key, value);
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

let serial = 0;
export const fresh = (prefix) => `${prefix}-${++serial}`;

export function field(label, control, hint, extra) {
  const id = control.id || (control.id = fresh("field"));
  const note = hint && h("span", { class: "hint", id: `${id}-hint` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" },
    h("div", { class: "row" }, h("label", { htmlFor: id }, label), extra), control, note);
}

export function select(options, value, onchange) {
  const pairs = options.map((each) => (Array.isArray(each) ? each : [each, each]));
  const control = h("select", { onchange: () => onchange(control.value) },
    pairs.map(([key, text]) => h("option", { value: key }, text)));
  control.value = value;
  return control;
}

// A button whose explanation is one hover, focus or tap away.
export function tip(label, ...content) {
  const id = fresh("tip");
  const text = h("div", { class: "tip-text", role: "tooltip", id }, ...content);
  const button = h("button", { type: "button", "aria-label": label, "aria-describedby": id }, icon("info"));
  const open = () => {
    text.classList.add("open");
    const at = button.getBoundingClientRect();
    const left = Math.max(16, Math.min(at.left - 20, innerWidth - text.offsetWidth - 16));
    const below = at.bottom + 8 + text.offsetHeight < innerHeight;
    text.style.left = `${left}px`;
    text.style.top = `${below ? at.bottom + 8 : Math.max(8, at.top - 8 - text.offsetHeight)}px`;
  };
  const close = () => text.classList.remove("open");
  const wrapper = h("span", { class: "tip", onmouseenter: open, onmouseleave: close,
    onfocusin: open, onfocusout: close,
    onkeydown: (event) => event.key === "Escape" && close() }, button, text);
  return wrapper;
}

export function say(text) {
  document.getElementById("announce").textContent = text;
}

export function toast(text) {
  const line = h("p", {}, text);
  document.getElementById("toasts").append(line);
  setTimeout(() => line.remove(), 4500);
}

export const trouble = (error, heading = "That did not work") =>
  h("div", { class: "notice bad", role: "alert" }, h("h3", {}, heading), h("p", {}, error.message || String(error)));

export function ask(question, detail, verb) {
  return new Promise((resolve) => {
    const heading = fresh("ask");
    const dialog = h("dialog", { "aria-labelledby": heading, onclose: () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    } },
    h("form", { method: "dialog" }, h("h2", { id: heading }, question), h("p", { class: "muted" }, detail),
      h("div", { class: "row" }, h("button", { value: "no" }, "Keep"),
        h("button", { value: "yes", class: "danger" }, verb))));
    document.body.append(dialog);
    dialog.showModal();
  });
}

export const count = (value) => value === null || value === undefined ? "–" : Number(value).toLocaleString("en");
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const when = (seconds) => new Date(seconds * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

export function seconds(value, short = false) {
  if (value === null || value === undefined) return "–";
  const digits = (number) => (short ? String(Number(number.toPrecision(2))) : number.toPrecision(3));
  if (value === 0) return "0 s";
  if (value < 0.001) return `${(value * 1e6).toFixed(0)} µs`;
  if (value < 0.9995) return `${digits(value * 1e3)} ms`;
  if (value < 120) return `${digits(value)} s`;
  return `${(value / 60).toFixed(short ? 0 : 1)} min`;
}

export const colour = (index) => getComputedStyle(document.documentElement).getPropertyValue(`--class-${index % 8}`).trim();
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
