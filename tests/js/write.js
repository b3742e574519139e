// Write names and numbers as the page does, for test_same_words.py: cases in, what is written out, as JSON.

import { readFileSync } from "node:fs";
import { amount, decimals } from "../../src/butfor/_web/static/numbers.js";
import { printable, shortened } from "../../src/butfor/_web/static/text.js";

const { numbers, texts, longest } = JSON.parse(readFileSync(0, "utf-8"));
const written = {
  decimals: numbers.map((group) => decimals(...group)),
  amounts: numbers.map(([first]) => amount(first)),
  shortened: texts.map((text) => shortened(text, longest)),
  printable: texts.map((text) => printable(text)),
};
process.stdout.write(JSON.stringify(written));
