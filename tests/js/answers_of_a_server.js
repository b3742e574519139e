// What a server would answer, for tests of modules that ask one.

/** A trial of a message that is taken for spam. */
export function trial(more = {}) {
  return {
    score: 0.93,
    score_without: 0.93,
    threshold: 0.5,
    decision: "spam",
    decision_without: "spam",
    flipped: false,
    n_classes: 2,
    explanation: null,
    units: null,
    text: null,
    ...more,
  };
}

/** An explanation with these places. */
export function explanation(places, more = {}) {
  return { status: "found", places, proven: false, ...more };
}

/** Answer every request with `answer(path, body)`, whose `http` is the status; return the list of what was asked. */
export function answering(t, answer) {
  const before = globalThis.fetch;
  t.after(() => (globalThis.fetch = before));
  const asked = [];
  globalThis.fetch = async (path, options) => {
    const body = options.body ? JSON.parse(options.body) : null;
    asked.push({ path, body });
    options.signal?.throwIfAborted();
    const { http = 200, ...content } = await answer(path, body);
    return new Response(JSON.stringify(content), { status: http });
  };
  return asked;
}
