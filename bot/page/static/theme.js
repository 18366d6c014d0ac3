// Maps Telegram's theme parameters to CSS variables; without them the page follows the system.

const COLOURS = [
  "accent_text_color",
  "bg_color",
  "button_color",
  "button_text_color",
  "destructive_text_color",
  "header_bg_color",
  "hint_color",
  "link_color",
  "secondary_bg_color",
  "section_bg_color",
  "section_separator_color",
  "subtitle_text_color",
  "text_color",
];
const HEX = /^#[0-9a-f]{6}$/i;
const DARK = matchMedia("(prefers-color-scheme: dark)");

// Values that are not `#rrggbb` are ignored.
export function applyTheme(params) {
  const root = document.documentElement;
  for (const colour of COLOURS) {
    const value = params?.[colour];
    const variable = `--tg-${colour.replaceAll("_", "-")}`;
    if (typeof value === "string" && HEX.test(value)) root.style.setProperty(variable, value);
    else root.style.removeProperty(variable);
  }
  const background = params?.bg_color;
  const isKnown = typeof background === "string" && HEX.test(background);
  DARK.onchange = isKnown ? null : () => applyTheme({});
  root.dataset.scheme = (isKnown ? isDark(background) : DARK.matches) ? "dark" : "light";
}

function isDark(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}
