// Points in the plane and the boundary between them, drawn on a canvas.

import { contours } from "./contours.js";
import { token } from "./dom.js";

const TAU = 2 * Math.PI;

export const decodeGrid = (text) =>
  text && new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

export class Board {
  constructor(canvas) {
    this.canvas = canvas;
    this.view = { x0: -4, x1: 4, y0: -3, y1: 3, columns: 80, rows: 60 };
    this.points = []; // { id, x, y, label, weight, set, faded }
    this.values = null;
    this.selected = null;
    this.changed = new Set(); // ids of those that are pointed out for a moment
    this.ground = document.createElement("canvas");
    this.asked = 0;
    this.readTokens = () => {
      this.colours = [token("class-0"), token("class-1")];
      this.ink = token("text");
      this.paper = token("surface");
      this.muted = token("muted");
      this.line = token("line");
      this.accent = token("accent");
      this.painted = null;
      this.ask();
    };
    this.resized = new ResizeObserver(() => this.ask());
    this.resized.observe(canvas);
    addEventListener("themechange", this.readTokens);
    this.readTokens();
  }

  close() {
    this.resized.disconnect();
    removeEventListener("themechange", this.readTokens);
    cancelAnimationFrame(this.asked);
    clearTimeout(this.flashing);
  }

  // Draw in the next frame.
  ask() {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }

  x(value) { return ((value - this.view.x0) / (this.view.x1 - this.view.x0)) * this.width; }
  y(value) { return ((this.view.y1 - value) / (this.view.y1 - this.view.y0)) * this.height; }

  // From pixels of the page within the canvas to the plane, kept inside the view.
  place(px, py) {
    const { x0, x1, y0, y1 } = this.view;
    const part = (value, size) => Math.min(1, Math.max(0, value / size));
    return {
      x: x0 + part(px, this.canvas.clientWidth) * (x1 - x0),
      y: y1 - part(py, this.canvas.clientHeight) * (y1 - y0),
    };
  }

  nearest(px, py, reach) {
    let best = null;
    let least = reach;
    for (const point of this.points) {
      const far = Math.hypot(this.x(point.x) - px, this.y(point.y) - py);
      if (far <= least) [best, least] = [point, far];
    }
    return best;
  }

  draw() {
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    const size = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const c = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.fillStyle = this.paper;
    c.fillRect(0, 0, this.width, this.height);
    if (this.values) this.drawGround(c);
    this.drawTicks(c);
    if (this.values) this.drawLines(c);
    for (const point of this.points) if (point.set === 0) this.drawPoint(c, point);
    for (const point of this.points) if (point.set !== 0) this.drawPoint(c, point);
    this.drawMarks(c);
  }

  drawGround(c) {
    const { columns, rows } = this.view;
    if (this.painted !== this.values) {
      this.painted = this.values;
      this.ground.width = columns;
      this.ground.height = rows;
      const g = this.ground.getContext("2d");
      const image = g.createImageData(columns, rows);
      const shades = this.colours.map(rgb);
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const value = this.values[row * columns + column];
          const at = 4 * ((rows - 1 - row) * columns + column);
          image.data.set(shades[value > 0 ? 1 : 0], at);
          image.data[at + 3] = 20 + 50 * Math.min(1, Math.abs(value));
        }
      }
      g.putImageData(image, 0, 0);
    }
    const dx = this.width / (columns - 1);
    const dy = this.height / (rows - 1);
    c.imageSmoothingEnabled = true;
    c.drawImage(this.ground, -dx / 2, -dy / 2, columns * dx, rows * dy);
  }

  drawLines(c) {
    const { columns, rows } = this.view;
    const dx = this.width / (columns - 1);
    const dy = this.height / (rows - 1);
    for (const [level, dash, thick, colour] of [
      [-1, [6, 5], 1.5, this.colours[0]],
      [1, [6, 5], 1.5, this.colours[1]],
      [0, [], 2.5, this.ink],
    ]) {
      c.beginPath();
      for (const line of contours(this.values, columns, rows, level)) {
        line.forEach(([x, y], at) => c[at ? "lineTo" : "moveTo"](x * dx, this.height - y * dy));
      }
      c.setLineDash(dash);
      c.lineWidth = thick;
      c.strokeStyle = colour;
      c.lineJoin = "round";
      c.stroke();
    }
    c.setLineDash([]);
  }

  drawTicks(c) {
    c.font = "11px system-ui, sans-serif";
    c.fillStyle = this.muted;
    c.strokeStyle = this.line;
    c.lineWidth = 1;
    c.textAlign = "center";
    for (const value of ticks(this.view.x0, this.view.x1)) {
      const at = Math.round(this.x(value)) + 0.5;
      c.beginPath();
      c.moveTo(at, this.height - 5);
      c.lineTo(at, this.height);
      c.stroke();
      if (at > 16 && at < this.width - 16) c.fillText(String(value), at, this.height - 8);
    }
    c.textAlign = "left";
    for (const value of ticks(this.view.y0, this.view.y1)) {
      const at = Math.round(this.y(value)) + 0.5;
      c.beginPath();
      c.moveTo(0, at);
      c.lineTo(5, at);
      c.stroke();
      if (at > 12 && at < this.height - 24) c.fillText(String(value), 8, at + 4);
    }
  }

  drawPoint(c, point) {
    const x = this.x(point.x), y = this.y(point.y);
    const base = [3.6, 4.8, 5.6][point.set] * (this.width < 500 ? 0.8 : 1);
    drawVector(c, x, y, base * Math.max(0.55, Math.min(2.6, point.weight ** (1 / 3))), point, this);
  }

  // Point out some points for a moment.
  flash(ids) {
    this.changed = new Set(ids);
    clearTimeout(this.flashing);
    this.flashing = setTimeout(() => {
      this.changed.clear();
      this.ask();
    }, 700);
  }

  drawMarks(c) {
    c.lineWidth = 1.5;
    c.strokeStyle = this.accent;
    for (const point of this.points) {
      if (!this.changed.has(point.id)) continue;
      c.beginPath();
      c.arc(this.x(point.x), this.y(point.y), 11, 0, TAU);
      c.stroke();
    }
    const chosen = this.points.find((point) => point.id === this.selected);
    if (chosen) {
      c.beginPath();
      c.arc(this.x(chosen.x), this.y(chosen.y), 14, 0, TAU);
      c.lineWidth = 2.5;
      c.strokeStyle = this.accent;
      c.stroke();
    }
  }
}

// Shape says the class (0 round, 1 square); ring, cross or neither says the set.
export function drawVector(c, x, y, r, { label, set, weight, faded }, look) {
  c.globalAlpha = faded ?? (set === 0 ? 0.62 : 1);
  c.fillStyle = weight === 0 ? look.paper : look.colours[label];
  c.strokeStyle = weight === 0 ? look.colours[label] : look.paper;
  c.lineWidth = 1.2;
  outline(c, x, y, r, label);
  c.fill();
  c.stroke();
  c.globalAlpha = 1;
  if (set === 1) {
    c.strokeStyle = look.ink;
    c.lineWidth = 2;
    outline(c, x, y, r + 2.6, label);
    c.stroke();
  } else if (set === 2) {
    const arm = r * 0.62;
    c.strokeStyle = look.paper;
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(x - arm, y - arm);
    c.lineTo(x + arm, y + arm);
    c.moveTo(x - arm, y + arm);
    c.lineTo(x + arm, y - arm);
    c.stroke();
  }
}

function outline(c, x, y, r, label) {
  c.beginPath();
  if (label === 0) c.arc(x, y, r, 0, TAU);
  else c.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
}

function ticks(low, high) {
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((each) => each >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(6)));
  return found;
}

// A small picture of one vector, for a legend.
export function sample(label, set, look) {
  const canvas = document.createElement("canvas");
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.height = 22 * scale;
  canvas.setAttribute("aria-hidden", "true");
  canvas.className = "sample";
  const c = canvas.getContext("2d");
  c.scale(scale, scale);
  drawVector(c, 11, 11, set === 0 ? 4.5 : 5.5, { label, set, weight: 1 }, look);
  return canvas;
}
