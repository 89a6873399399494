// Requests to the server; what goes wrong comes back as a sentence.

export class ApiError extends Error {}

async function request(method, path, body, headers = {}) {
  let answer;
  try {
    answer = await fetch(path, { method, body, headers });
  } catch {
    throw new ApiError(
      "The workbench does not answer. Start it again with 'supple workbench'; the history is kept.",
    );
  }
  const json = (answer.headers.get("content-type") || "").startsWith("application/json");
  const content = answer.status === 204 ? null : json ? await answer.json() : await answer.text();
  if (answer.ok) return content;
  throw new ApiError((json && content.detail) || `The server answered ${answer.status}.`);
}

const asJson = (method) => (path, body = {}) =>
  request(method, path, JSON.stringify(body), { "Content-Type": "application/json" });

const query = (values) => {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

export const api = {
  get: (path, values = {}) => request("GET", path + query(values)),
  post: asJson("POST"),
  patch: asJson("PATCH"),
  remove: (path) => request("DELETE", path),
  upload: (path, values, body) =>
    request("POST", path + query(values), body, { "Content-Type": "application/octet-stream" }),
};
