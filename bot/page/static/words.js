// The sentences of the page in the person's language, from catalogue/LANGUAGE.json.
//
// A message is a text with variables in braces, or an object of such texts: `words(key, {kind})` takes the one of that
// kind, and `words(key, {count})` the plural of the number; `other` is for the rest. Numbers are written by the locale.
import { isRightToLeft, language, locale } from "./language.js";

const catalogue = await (await fetch(new URL(`catalogue/${language}.json`, import.meta.url))).json();
const plurals = new Intl.PluralRules(locale);
const numbers = new Intl.NumberFormat(locale);
const VARIABLE = /\{(\w+)\}/;
// Commands, addresses and names in Latin letters; in a text from right to left each is isolated.
const LATIN = /[/@]?[A-Za-z][\w./@-]*(?: [A-Za-z][\w./@-]*)*/g;

// Isolates a text from what stands around it. One that has isolates in it is ours: it reads from right to left.
export const isolated = (text) => (isRightToLeft ? `${/[\u2067\u2068]/.test(text) ? "\u2067" : "\u2068"}${text}\u2069` : text);

export const hasWords = (key) => key in catalogue;

// Returns the pieces of a message, for variables that are nodes.
export function pieces(key, values = {}) {
  const message = catalogue[key];
  const pattern = typeof message === "string" ? message : (message[values.kind] ?? message[plurals.select(values.count)] ?? message.other);
  return pattern.split(VARIABLE).map((piece, at) => (at % 2 ? shown(values[piece]) : piece.replace(LATIN, isolated)));
}

export function words(key, values) {
  return pieces(key, values).join("");
}

// Returns a sentence of the service in the person's language; one that the catalogue does not have stays English.
export const sentence = (text) => catalogue[text] ?? text;

function shown(value) {
  if (typeof value === "number") return numbers.format(value);
  return typeof value === "string" ? isolated(value) : value;
}
