// Mouse, finger and keys on the canvas of the playground.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const SLOP = 4; // pixels that a click may wander

export class Hand {
  constructor(tab) {
    this.tab = tab;
    this.board = tab.board;
    this.held = null;
    this.gestures = new Map();
    this.serial = Math.floor(Math.random() * 1e9); // not those of an earlier visit
    const listen = (target, kind, act) => target.addEventListener(kind, act, { signal: tab.ending.signal });
    const { canvas } = tab;
    listen(canvas, "pointerdown", (event) => this.down(event));
    listen(canvas, "pointermove", (event) => this.move(event));
    listen(canvas, "pointerup", (event) => this.up(event));
    listen(canvas, "pointercancel", () => this.drop());
    listen(canvas, "keydown", (event) => this.key(event));
    listen(document, "keydown", (event) => this.takeBack(event));
  }

  // The number of a movement that goes on until endGesture.
  gesture(name) {
    if (!this.gestures.has(name)) this.gestures.set(name, ++this.serial);
    return this.gestures.get(name);
  }

  endGesture(name) { this.gestures.delete(name); }

  at(event) {
    const box = this.tab.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  reach(event) { return event.pointerType === "mouse" ? 10 : 18; }

  down(event) {
    if (event.button !== 0 || !this.tab.state) return;
    const [px, py] = this.at(event);
    const point = this.board.nearest(px, py, this.reach(event));
    this.held = { id: point?.id ?? null, px, py, moved: false };
    this.tab.canvas.setPointerCapture(event.pointerId);
    this.board.ask();
  }

  move(event) {
    const [px, py] = this.at(event);
    const { held, tab } = this;
    if (!held) {
      tab.canvas.classList.toggle("over", Boolean(this.board.nearest(px, py, this.reach(event))));
      return;
    }
    if (held.id === null) return;
    if (!held.moved && Math.hypot(px - held.px, py - held.py) <= SLOP) return;
    held.moved = true;
    const place = this.board.place(px, py);
    this.put(held.id, place);
    this.board.ask();
    tab.send({ action: "move", point: held.id, ...place, gesture: this.gesture("drag") }, event.timeStamp);
  }

  up(event) {
    const { held, tab } = this;
    if (!held) return;
    this.drop();
    if (held.moved) return;
    const place = this.board.place(held.px, held.py);
    if (held.id === null) tab.send({ action: "learn", ...place, label: tab.label }, event.timeStamp);
    else if (tab.click === "forget") {
      if (held.id === this.board.selected) this.select(null);
      tab.send({ action: "forget", point: held.id }, event.timeStamp);
    } else if (tab.click === "select") this.select(held.id);
    else this.flip(held.id, event.timeStamp);
  }

  drop() {
    this.held = null;
    this.endGesture("drag");
    this.tab.log.settle();
  }

  put(id, { x, y }) {
    const point = this.board.points.find((each) => each.id === id);
    if (point) Object.assign(point, { x, y });
  }

  // Points whose movement still waits for the server stay where the hand has put them: an answer to
  // an earlier part of the movement would draw them back, and a click would miss them.
  keepPlaces() {
    for (const { action } of this.tab.queue.waiting) if (action.action === "move") this.put(action.point, action);
  }

  select(id) {
    this.board.selected = id;
    this.board.ask();
    if (this.tab.state) this.tab.showSelected();
  }

  flip(id, stamp) {
    const point = this.board.points.find((each) => each.id === id);
    if (!point) return;
    point.label = 1 - point.label;
    this.board.ask();
    this.tab.send({ action: "relabel", point: id, label: point.label }, stamp);
  }

  // ---------------------------------------------------------------- keys

  key(event) {
    const { tab, board } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const id = board.selected;
    if (event.key in ARROWS) this.arrow(ARROWS[event.key], event.shiftKey, event.timeStamp);
    else if (event.key === "Delete" || event.key === "Backspace") tab.forget(id);
    else if (event.key === "+" || event.key === "=") tab.reweight(id, 1);
    else if (event.key === "-") tab.reweight(id, -1);
    else if (event.key.toLowerCase() === "f") this.flip(id, event.timeStamp);
    else if (event.key.toLowerCase() === "n") this.addByKey(event.timeStamp);
    else if (event.key === "Escape") this.select(null);
    else return;
    event.preventDefault();
  }

  arrow([dx, dy], moves, stamp) {
    const { board, tab } = this;
    const chosen = board.points.find((point) => point.id === board.selected);
    if (!chosen) {
      const middle = board.nearest(board.width / 2, board.height / 2, Infinity);
      this.select(middle?.id ?? null);
    } else if (moves) {
      const place = board.place(board.x(chosen.x) + dx * 0.01 * board.width, board.y(chosen.y) - dy * 0.01 * board.height);
      Object.assign(chosen, place);
      board.ask();
      tab.send({ action: "move", point: chosen.id, ...place, gesture: this.gesture(`keys ${chosen.id}`) }, stamp);
    } else this.select(this.neighbour(chosen, dx, dy)?.id ?? chosen.id);
  }

  // The nearest point in a direction; one aside counts as further away.
  neighbour(from, dx, dy) {
    const { board } = this;
    let best = null;
    let least = Infinity;
    for (const point of board.points) {
      const right = board.x(point.x) - board.x(from.x);
      const up = board.y(from.y) - board.y(point.y);
      const along = right * dx + up * dy;
      const aside = Math.abs(right * dy) + Math.abs(up * dx);
      if (point.id !== from.id && along > 0 && along + 2 * aside < least) [best, least] = [point, along + 2 * aside];
    }
    return best;
  }

  selectNext() {
    const { board } = this;
    const chosen = board.points.find((point) => point.id === board.selected);
    let best = null;
    let least = Infinity;
    for (const point of board.points) {
      const far = Math.hypot(board.x(point.x) - board.x(chosen.x), board.y(point.y) - board.y(chosen.y));
      if (point.id !== chosen.id && far < least) [best, least] = [point, far];
    }
    this.select(best?.id ?? null);
  }

  addByKey(stamp) {
    const { board, tab } = this;
    const chosen = board.points.find((point) => point.id === board.selected);
    const [px, py] = chosen ? [board.x(chosen.x) + 14, board.y(chosen.y) - 14] : [board.width / 2, board.height / 2];
    tab.send({ action: "learn", ...board.place(px, py), label: tab.label }, stamp);
  }

  takeBack(event) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
    if (event.target.closest?.("input:not([type=range]):not([type=radio]), textarea")) return;
    event.preventDefault();
    (event.shiftKey ? this.tab.redo : this.tab.undo).click();
  }
}
