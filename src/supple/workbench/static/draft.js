// What the user is about to run; kept in the browser, so that a reload loses nothing.

const KEY = "supple-draft";

const START = {
  data: { source: "embedded", name: "wbc", target: null, order: "random", by: null, prepare: "standardise", rows: null, params: {} },
  data_id: null,
  machines: null,
  protocol: "held-out",
  test_share: 0.3,
  points: 8,
  batch_size: null,
  repetitions: 5,
  seed: 0,
  name: "",
  sweep: null,
};

export function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY)) || {};
    return { ...structuredClone(START), ...kept, data: { ...START.data, ...kept.data } };
  } catch {
    return structuredClone(START);
  }
}

export function save(draft) {
  localStorage.setItem(KEY, JSON.stringify(draft));
}

// A run of the history becomes the draft again, to be changed and repeated.
export function fromRun(run) {
  const { data, machines, protocol, test_share, points, batch_size, repetitions, seed, name } = run.spec;
  const draft = { ...load(), data, data_id: run.data_id, machines, protocol, test_share, points,
    batch_size, repetitions, seed, name, sweep: null };
  save(draft);
  return draft;
}

// What the summary and the projection of the server need to know of the data.
export const dataQuery = (draft) => ({
  source: draft.data.source,
  name: draft.data.source === "file" ? draft.data_id : draft.data.name,
  target: draft.data.target,
});

export function studyOf(draft) {
  const machines = draft.sweep ? swept(draft.sweep) : draft.machines;
  const name = draft.name.trim() || `${draft.data.name}: ${draft.sweep
    ? `${draft.sweep.parameter} of ${draft.sweep.machine}`
    : machines.map((each) => each.label).join(", ")}`.slice(0, 120);
  const { protocol, test_share, points, batch_size, repetitions, seed } = draft;
  return { name, data: draft.data, machines, protocol, test_share, points, batch_size, repetitions, seed };
}

export const sweepValues = (text) => text.split(/[\s,;]+/).filter(Boolean);

function swept({ machine, parameter, values, params }) {
  return sweepValues(values).map((value) => ({
    label: `${machine} ${parameter}=${value}`, machine, params: { ...params, [parameter]: value },
  }));
}

// The parameter that was swept: all machines are of one kind and differ in one number.
export function sweepOf(spec) {
  const [first, ...others] = spec.machines;
  if (!others.length || others.some((each) => each.machine !== first.machine)) return null;
  const names = new Set(spec.machines.flatMap((each) => Object.keys(each.params)));
  const varied = [...names].filter((name) => new Set(spec.machines.map((each) => each.params[name])).size > 1);
  if (varied.length !== 1) return null;
  const values = spec.machines.map((each) => each.params[varied[0]]);
  return values.every((value) => typeof value === "number") ? { parameter: varied[0], values } : null;
}
