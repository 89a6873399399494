// Points of several classes on a canvas; each class has its colour and its shape.

import { colour, h, token } from "./dom.js";

export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "down", "plus", "ring"];

function trace(context, shape, x, y, r) {
  context.beginPath();
  if (shape === "circle" || shape === "ring") context.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === "square") context.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (shape === "cross" || shape === "plus") {
    const d = shape === "cross" ? [[-1, -1, 1, 1], [-1, 1, 1, -1]] : [[-1.2, 0, 1.2, 0], [0, -1.2, 0, 1.2]];
    for (const [a, b, c, e] of d) {
      context.moveTo(x + a * r, y + b * r);
      context.lineTo(x + c * r, y + e * r);
    }
  } else {
    const corners = { triangle: [[0, -1.2], [1.1, 0.9], [-1.1, 0.9]], down: [[0, 1.2], [1.1, -0.9], [-1.1, -0.9]],
      diamond: [[0, -1.3], [1.2, 0], [0, 1.3], [-1.2, 0]] }[shape];
    corners.forEach(([dx, dy], i) => context[i ? "lineTo" : "moveTo"](x + dx * r, y + dy * r));
    context.closePath();
  }
}

export function drawMarker(context, index, x, y, r) {
  const shape = SHAPES[index % SHAPES.length];
  trace(context, shape, x, y, r);
  const open = shape === "cross" || shape === "plus" || shape === "ring";
  if (open) {
    context.lineWidth = 1.8;
    context.strokeStyle = colour(index);
  } else {
    context.fillStyle = colour(index);
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = token("surface");
  }
  context.stroke();
}

export function marker(index) {
  const canvas = h("canvas", { width: 32, height: 32, "aria-hidden": "true", class: "marker" });
  drawMarker(canvas.getContext("2d"), index, 16, 16, 9);
  return canvas;
}

export function scatter(canvas, points) {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const pad = 18;
  const span = (values) => {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return high > low ? [low, high] : [low - 1, high + 1];
  };
  const [x0, x1] = span(points.x);
  const [y0, y1] = span(points.y);
  context.strokeStyle = token("line");
  context.lineWidth = 1;
  for (let i = 0; i <= 4; i++) {
    const x = Math.round(pad + ((width - 2 * pad) * i) / 4) + 0.5;
    const y = Math.round(pad + ((height - 2 * pad) * i) / 4) + 0.5;
    context.beginPath();
    context.moveTo(x, pad / 2);
    context.lineTo(x, height - pad / 2);
    context.moveTo(pad / 2, y);
    context.lineTo(width - pad / 2, y);
    context.stroke();
  }
  const radius = points.x.length > 600 ? 3 : 4.2;
  context.globalAlpha = 0.85;
  points.x.forEach((value, i) => drawMarker(context, points.label[i],
    pad + ((value - x0) / (x1 - x0)) * (width - 2 * pad),
    height - pad - ((points.y[i] - y0) / (y1 - y0)) * (height - 2 * pad), radius));
}
