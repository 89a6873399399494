// Lines of equal value on a grid, by marching squares.

// Sides of a cell: 0 bottom, 1 right, 2 top, 3 left; which of them a line joins, by the corners
// that lie above the level (1 bottom left, 2 bottom right, 4 top right, 8 top left).
const JOINS = [
  [], [[3, 0]], [[0, 1]], [[3, 1]], [[1, 2]], null, [[0, 2]], [[3, 2]],
  [[2, 3]], [[2, 0]], null, [[2, 1]], [[1, 3]], [[1, 0]], [[0, 3]], [],
];

// Call line(x1, y1, x2, y2) for each piece, in units of the grid: columns and rows from 0.
export function contour(values, columns, rows, level, line) {
  const across = (a, b) => (level - a) / (b - a);
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const at = row * columns + column;
      const a = values[at], b = values[at + 1];
      const c = values[at + columns + 1], d = values[at + columns];
      const code = (a > level) | ((b > level) << 1) | ((c > level) << 2) | ((d > level) << 3);
      if (code === 0 || code === 15) continue;
      const point = (side) => {
        if (side === 0) return [column + across(a, b), row];
        if (side === 1) return [column + 1, row + across(b, c)];
        if (side === 2) return [column + across(d, c), row + 1];
        return [column, row + across(a, d)];
      };
      for (const [from, to] of JOINS[code] || saddle(code, a + b + c + d > 4 * level))
        line(...point(from), ...point(to));
    }
  }
}

// Two opposite corners lie above: their middle says whether they are connected.
function saddle(code, connected) {
  return (code === 5) === connected ? [[3, 2], [0, 1]] : [[3, 0], [1, 2]];
}
