// The language of the page: that of the person's Telegram, or else of the browser. Its locale writes dates and numbers.
import { launch } from "./launch.js";

const LANGUAGES = ["en", "es", "ru", "de", "pt", "fa"];
const LOCALES = { en: "en-GB" };
const RIGHT_TO_LEFT = ["fa"];

const primary = (tag) => tag.split("-")[0].toLowerCase();
// Telegram's tag decides alone, as in the chat. A browser has several; English is the last choice of both.
const wanted = launch.languageCode ? [launch.languageCode] : navigator.languages;

export const language = wanted.map(primary).find((each) => LANGUAGES.includes(each)) ?? "en";
export const isRightToLeft = RIGHT_TO_LEFT.includes(language);
// A country of the same language, such as "en-US", has dates of its own.
export const locale =
  [launch.languageCode, ...navigator.languages].find((tag) => tag.includes("-") && isLocale(tag) && primary(tag) === language) ??
  LOCALES[language] ??
  language;

document.documentElement.lang = language;
document.documentElement.dir = isRightToLeft ? "rtl" : "ltr";

function isLocale(tag) {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
