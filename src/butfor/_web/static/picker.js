// Pick items by their names: a field with suggestions (the combobox pattern), and what was picked as chips.

import { get } from "./api.js";
import { announce, el, isAbort, named } from "./dom.js";
import { counted } from "./numbers.js";

const PAUSE = 120;

/** A picker of features; an item is a name, or a column (a number) where features have no names. */
export class Picker {
  /** @type {FeatureAnswer[]} */
  #options = [];
  #active = -1;
  /** Whether the suggestions are older than what is typed. */
  #isBehind = false;
  /** @type {AbortController | null} */
  #asking = null;
  /** @type {number | undefined} */
  #waiting;
  #input = el("input", {
    id: "pick",
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    "aria-expanded": "false",
    "aria-controls": "suggestions",
    "aria-autocomplete": "list",
    oninput: () => this.#typed(),
    onfocus: () => this.#suggestSoon(),
    onblur: () => this.#close(),
    onkeydown: (event) => this.#key(event),
  });
  #list = el("ul", {
    id: "suggestions",
    role: "listbox",
    class: "suggestions",
    "aria-label": "Suggestions",
    hidden: true,
    onmousedown: (event) => this.#click(event),
  });
  #chips = el("ul", { class: "chips picked", "aria-label": "Picked" });
  #told = el("p", { class: "note" });

  /** @param {{ items: Item[], limit: number, noun: Noun, onChange: (items: Item[]) => void }} options */
  constructor({ items, limit, noun, onChange }) {
    this.items = [...items];
    this.limit = limit;
    this.noun = noun;
    this.onChange = onChange;
    this.element = el(
      "div",
      { class: "picker" },
      el("label", { for: "pick" }, `Add a ${noun[0]}`),
      el("div", { class: "combo" }, this.#input, this.#list),
      this.#chips,
      this.#told,
    );
    this.#draw();
  }

  /**
   * Take these items instead.
   * @param {Item[]} items
   */
  set(items) {
    this.items = [...items];
    this.#draw();
  }

  #draw() {
    this.#chips.replaceChildren(...this.items.map((item, i) => this.#chip(item, i)));
    const over = this.items.length > this.limit ? `: more than the ${this.limit} that the server takes` : "";
    this.#told.textContent = `${counted(this.items.length, ...this.noun)} picked${over}.`;
    this.onChange(this.items);
  }

  /**
   * @param {Item} item
   * @param {number} i
   */
  #chip(item, i) {
    const label = typeof item === "number" ? `feature ${item}` : item;
    const onclick = () => {
      this.items.splice(i, 1);
      this.#draw();
      this.#input.focus();
      // The list would cover the chips, one of which may be next.
      clearTimeout(this.#waiting);
    };
    const about = `Take out ${label.slice(0, 60)}`;
    const drop = el("button", { type: "button", class: "small", onclick, "aria-label": about }, "×");
    return el("li", { class: "chip" }, named(label, 60), drop);
  }

  #typed() {
    this.#isBehind = true;
    this.#suggestSoon();
  }

  #suggestSoon() {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#suggest(), PAUSE);
  }

  async #suggest() {
    this.#asking?.abort();
    this.#asking = new AbortController();
    try {
      const q = this.#input.value.trim();
      const { features } = await get("api/features", { q, limit: 20 }, this.#asking);
      if (document.activeElement === this.#input) this.#open(features);
    } catch (error) {
      if (!isAbort(error)) this.#told.textContent = `No suggestions: ${/** @type {Error} */ (error).message}`;
    }
  }

  /** @param {FeatureAnswer[]} features */
  #open(features) {
    const isNew = (/** @type {Item} */ item) => !this.items.includes(item);
    this.#options = features.filter(({ name, column }) => isNew(name) && isNew(column));
    this.#active = -1;
    this.#isBehind = false;
    const options = this.#options.map(({ name }, i) =>
      el("li", { role: "option", id: `suggestion-${i}`, "aria-selected": "false" }, named(name, 80)),
    );
    this.#list.replaceChildren(...options);
    this.#list.hidden = options.length === 0;
    this.#input.setAttribute("aria-expanded", String(!this.#list.hidden));
    this.#input.removeAttribute("aria-activedescendant");
    if (!options.length && this.#input.value.trim()) announce("No suggestions");
  }

  #close() {
    clearTimeout(this.#waiting);
    this.#asking?.abort();
    this.#open([]);
  }

  /** @param {MouseEvent} event */
  #click(event) {
    event.preventDefault();
    const option = /** @type {Element} */ (event.target).closest("[role=option]");
    if (option) this.#pick([...this.#list.children].indexOf(option));
  }

  /** @param {number} i */
  #pick(i) {
    const { name, column } = this.#options[i];
    this.items.push(name === `feature ${column}` ? column : name);
    this.#input.value = "";
    this.#close();
    this.#draw();
  }

  /** Pick what fits what was typed, not what fitted before. */
  async #pickTyped() {
    clearTimeout(this.#waiting);
    await this.#suggest();
    if (!this.#isBehind && this.#options.length) this.#pick(0);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { key } = event;
    if (key === "ArrowDown" || key === "ArrowUp") this.#walk(key === "ArrowDown" ? 1 : -1);
    else if (key === "Enter" && this.#isBehind && this.#input.value.trim()) this.#pickTyped();
    else if (key === "Enter" && this.#options.length) this.#pick(Math.max(this.#active, 0));
    else if (key === "Escape" && !this.#list.hidden) this.#close();
    else if (key === "Backspace" && !this.#input.value && this.items.length) {
      this.items.pop();
      this.#draw();
    } else return;
    event.preventDefault();
  }

  /** @param {1 | -1} by */
  #walk(by) {
    if (this.#list.hidden) {
      this.#suggest();
      return;
    }
    const n = this.#options.length;
    this.#active = (this.#active + by + n + (this.#active < 0 && by < 0 ? 1 : 0)) % n;
    const options = [...this.#list.children];
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === this.#active)));
    this.#input.setAttribute("aria-activedescendant", `suggestion-${this.#active}`);
    options[this.#active].scrollIntoView({ block: "nearest" });
  }
}
