// Lines of equal value on a grid, by marching squares.

// Sides of a cell: 0 bottom, 1 right, 2 top, 3 left; which of them a line joins, by the corners
// that lie above the level (1 bottom left, 2 bottom right, 4 top right, 8 top left).
const JOINS = [
  [], [[3, 0]], [[0, 1]], [[3, 1]], [[1, 2]], null, [[0, 2]], [[3, 2]],
  [[2, 3]], [[2, 0]], null, [[2, 1]], [[1, 3]], [[1, 0]], [[0, 3]], [],
];

// Two opposite corners lie above: the middle says whether they are connected.
const saddle = (code, connected) =>
  (code === 5) === connected ? [[3, 2], [0, 1]] : [[3, 0], [1, 2]];

// Return the lines, each a list of [x, y] in units of the grid: columns and rows from 0. A closed
// line ends where it begins.
export function contours(values, columns, rows, level) {
  const places = new Map(); // crossing points by the edge of the grid that they lie on
  const joined = new Map(); // and to which other ones a line goes
  const edge = (column, row, side) => {
    const x = column + (side === 1), y = row + (side === 2), upright = side % 2;
    const key = 2 * (y * columns + x) + upright;
    if (!places.has(key)) {
      const a = values[y * columns + x];
      const b = values[upright ? (y + 1) * columns + x : y * columns + x + 1];
      const part = (level - a) / (b - a);
      places.set(key, upright ? [x, y + part] : [x + part, y]);
      joined.set(key, []);
    }
    return key;
  };
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const at = row * columns + column;
      const a = values[at], b = values[at + 1], c = values[at + columns + 1], d = values[at + columns];
      const code = (a > level) | ((b > level) << 1) | ((c > level) << 2) | ((d > level) << 3);
      for (const [from, to] of JOINS[code] || saddle(code, a + b + c + d > 4 * level)) {
        const [one, other] = [edge(column, row, from), edge(column, row, to)];
        joined.get(one).push(other);
        joined.get(other).push(one);
      }
    }
  }
  return trace(places, joined);
}

// Follow each line from an end of it, then those that have none.
function trace(places, joined) {
  const lines = [];
  const follow = (start) => {
    const line = [places.get(start)];
    for (let at = start; joined.get(at).length;) {
      const next = joined.get(at).pop();
      const back = joined.get(next);
      back.splice(back.indexOf(at), 1);
      line.push(places.get(next));
      at = next;
    }
    lines.push(line);
  };
  for (const [key, others] of joined) if (others.length === 1) follow(key);
  for (const [key, others] of joined) if (others.length) follow(key);
  return lines;
}
