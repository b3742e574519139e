// A reporter for `node --test`: what failed in full, and one line for all that passed.

/** Yield the text of a report. */
export default async function* summary(events) {
  const seen = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    // A file counts as a test only where it breaks before its tests are known.
    const isFile = data.name?.endsWith(".js");
    if (type === "test:pass" && !isFile) seen[data.skip === undefined ? "passed" : "skipped"] += 1;
    if (type === "test:stderr") yield data.message;
    if (type !== "test:fail") continue;
    seen.failed += 1;
    const { cause } = data.details.error;
    yield `FAILED ${data.file ?? ""}: ${data.name}\n${cause?.stack ?? cause ?? data.details.error}\n\n`;
  }
  const counts = Object.entries(seen).filter(([, n]) => n > 0);
  yield `JavaScript tests: ${counts.map(([what, n]) => `${n} ${what}`).join(", ")}.\n`;
}
