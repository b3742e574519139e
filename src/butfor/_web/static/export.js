// What a reader can take along of what is on the page now: a sentence, a letter, a file, a link.

import { busy } from "./busy.js";
import { announce, el, failure, isAbort } from "./dom.js";
import { count } from "./numbers.js";
import { printable } from "./text.js";
import { isContradicted } from "./words.js";

export const LONGEST_LINK = 8000;
const TOO_LONG =
  "A link with all of this text would be longer than 8,000 characters, which many programs cut. Download the page instead.";
const NO_LETTER = "No letter: with the same deleted from the text itself, the decision stays.";
const DERIVED = ["size", "proven", "sentence", "proof", "facts", "letter", "page", "origin"];

/** A panel of buttons. `explained(signal)` gives the explanation with letter and page; `name` begins the files' names. */
export class Export {
  #origin = el("p", { class: "note" });
  #sentence = el("p", { class: "export-sentence", dir: "auto" });
  #told = el("p", { class: "note", role: "status" });
  #fallback = el("div");
  #letterButton = this.#button("Copy letter", (why) => this.#copy(why.letter ?? "", "The letter"));
  buttons = [
    this.#button("Copy sentence", (why) => this.#copy(why.sentence, "The sentence")),
    this.#letterButton,
    this.#button("Download JSON", (why) => this.#save("json", "application/json", jsonOf(why))),
    this.#button("Download page", (why) => this.#save("html", "text/html", why.page ?? "")),
  ];

  /** @param {{ explained: (signal: AbortSignal) => Promise<Explained>, name: string }} options */
  constructor({ explained, name }) {
    this.explained = explained;
    this.name = name;
    const link = el("button", { type: "button", onclick: () => this.#copyLink() }, "Copy link");
    this.element = el(
      "section",
      { class: "panel export", "aria-label": "Export" },
      el("h2", {}, "Take it along"),
      this.#origin,
      this.#sentence,
      el("div", { class: "buttons" }, this.buttons, link),
      this.#told,
      this.#fallback,
    );
  }

  /**
   * Show what is on the page now: an explanation, or null and why there is none.
   * @param {Explained | null} why
   * @param {string} whyNot
   */
  show(why, whyNot) {
    this.#origin.textContent = why ? `${why.origin ?? "Your own set"}:` : "Nothing to export:";
    this.#sentence.textContent = printable(why ? why.sentence : whyNot);
    for (const button of this.buttons) button.disabled = !why;
    this.#letterButton.disabled = why?.status !== "found" || isContradicted(why);
    this.#told.textContent = isContradicted(why) ? NO_LETTER : "";
    this.#fallback.replaceChildren();
  }

  /**
   * @param {string} label
   * @param {(why: Explained) => unknown} act
   */
  #button(label, act) {
    const run = async () => {
      this.#fallback.replaceChildren();
      try {
        await act(await busy((signal) => this.explained(signal), button, label));
      } catch (error) {
        if (!isAbort(error)) this.#fallback.replaceChildren(failure(error, run));
      }
    };
    const button = el("button", { type: "button", onclick: run }, label);
    return button;
  }

  #copyLink() {
    this.#fallback.replaceChildren();
    if (location.href.length > LONGEST_LINK || history.state?.own) this.#tell(TOO_LONG);
    else this.#copy(location.href, "The link");
  }

  /**
   * @param {string} text
   * @param {string} what
   */
  async #copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.#tell(`${what} is copied.`);
    } catch {
      this.#offer(text, what);
    }
  }

  /**
   * Where the browser does not let a page write to the clipboard, a reader still can.
   * @param {string} text
   * @param {string} what
   */
  #offer(text, what) {
    const label = `${what}, to copy`;
    const field = el("textarea", { readonly: true, rows: 4, "aria-label": label, value: text });
    this.#fallback.replaceChildren(field);
    field.focus();
    field.select();
    this.#tell(`${what} is selected: press Ctrl+C (or ⌘C) to copy it.`);
  }

  /**
   * @param {string} ending
   * @param {string} type
   * @param {string} content
   */
  #save(ending, type, content) {
    const address = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
    const link = el("a", { href: address, download: `${this.name}.${ending}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    this.#tell(`${this.name}.${ending} is saved (${count(content.length)} characters).`);
  }

  /** @param {string} text */
  #tell(text) {
    this.#told.textContent = text;
    announce(text);
  }
}

/**
 * The explanation alone as JSON, as `Explanation.from_dict` takes it.
 * @param {Explained} why
 */
export function jsonOf(why) {
  const plain = Object.fromEntries(Object.entries(why).filter(([name]) => !DERIVED.includes(name)));
  return `${JSON.stringify(plain, null, 2)}\n`;
}
