// The form for a row of one's own, made from the columns that the model reads.

import { el } from "./dom.js";
import { framed, submitButton } from "./own_forms.js";
import { workspace } from "./workspace.js";

/** @typedef {import("./own_address.js").OwnRow} OwnRow */
/** @typedef {HTMLInputElement | HTMLTextAreaElement} Field */

const HINTS = {
  text: "",
  items: "One a line",
  category: "",
  code: "A number",
  number: "A number",
};

/**
 * Make the form for a row.
 * @param {OwnRow | null} own
 */
export function recordForm(own) {
  const { columns } = workspace;
  const fields = columns.map(fieldOf);
  const button = submitButton();
  const told = () => (button.disabled = fields.every((field) => !field.value.trim()));
  /** @type {(other: OwnRow) => void} */
  const set = (other) => {
    columns.forEach((column, i) => (fields[i].value = shownValue(valueIn(other.record, column.name))));
    told();
  };
  for (const field of fields) field.addEventListener("input", told);
  if (own) set(own);
  told();
  const lines = columns.map((column, i) => lineOf(column, fields[i], i));
  const note = el(
    "p",
    { class: "note" },
    "An empty field is a missing value. It goes to this server alone, which does not log it.",
  );
  return framed(button, [el("div", { class: "record-form" }, lines), note], {
    read: () => ({ record: read(columns, fields) }),
    set,
  });
}

/**
 * @param {RecordColumn[]} columns
 * @param {Field[]} fields
 * @returns {OwnRecord}
 */
function read(columns, fields) {
  if (workspace.record_form === "lists") return listOf(fields[0].value);
  return Object.fromEntries(columns.map(({ name, kind }, i) => [name, valueOf(kind, fields[i].value)]));
}

/**
 * What a field holds, as the column has it.
 * @param {RecordColumn["kind"]} kind
 * @param {string} written
 */
export function valueOf(kind, written) {
  if (kind === "text") return written;
  if (kind === "items") return listOf(written);
  const trimmed = written.trim();
  if (!trimmed) return null;
  if (kind === "category") return trimmed;
  const number = Number(trimmed);
  return Number.isFinite(number) ? number : trimmed;
}

/** @param {string} written */
function listOf(written) {
  return written.split("\n").flatMap((line) => (line.trim() ? [line.trim()] : []));
}

/**
 * @param {OwnRecord} record
 * @param {string} name
 */
function valueIn(record, name) {
  return Array.isArray(record) ? record : (record[name] ?? null);
}

/** @param {string | number | string[] | null} value */
function shownValue(value) {
  if (value === null) return "";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/**
 * @param {RecordColumn} column
 * @param {number} i
 * @returns {Field}
 */
function fieldOf({ kind, choices }, i) {
  const id = `own-${i}`;
  if (kind === "text" || kind === "items")
    return el("textarea", { id, rows: kind === "text" ? 4 : 3, dir: "auto" });
  const list = choices.length ? { list: `${id}-choices` } : {};
  const mode = kind === "number" ? { inputmode: "decimal" } : {};
  return el("input", {
    id,
    type: "text",
    dir: "auto",
    autocomplete: "off",
    placeholder: HINTS[kind],
    ...list,
    ...mode,
  });
}

/**
 * @param {RecordColumn} column
 * @param {Field} field
 * @param {number} i
 */
function lineOf({ name, kind, choices }, field, i) {
  const hint = kind === "items" ? el("span", { class: "note" }, HINTS.items) : null;
  const known = choices.map((choice) => el("option", { value: String(choice) }));
  const list = choices.length ? el("datalist", { id: `own-${i}-choices` }, known) : null;
  return el("div", { class: "field" }, el("label", { for: `own-${i}` }, name), field, hint, list);
}
