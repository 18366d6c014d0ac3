// The colours of the chat page as the theme parameters of Telegram.

const VARIABLES = {
  bg_color: "--side",
  secondary_bg_color: "--field",
  section_bg_color: "--side",
  header_bg_color: "--head",
  bottom_bar_bg_color: "--head",
  text_color: "--text",
  subtitle_text_color: "--soft",
  hint_color: "--soft",
  link_color: "--link",
  accent_text_color: "--link",
  section_header_text_color: "--link",
  section_separator_color: "--line",
  button_color: "--accent",
  button_text_color: "--on-accent",
  destructive_text_color: "--danger",
};

export function themeParams() {
  const style = getComputedStyle(document.documentElement);
  const colour = (variable) => style.getPropertyValue(variable).trim();
  return Object.fromEntries(Object.entries(VARIABLES).map(([name, variable]) => [name, colour(variable)]));
}
