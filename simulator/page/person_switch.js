// The switcher "You are: …": the current person of this page.
import { personAvatar } from "./avatar.js";
import { button, el, fill, icon } from "./dom.js";
import { fullName } from "./format.js";
import { attachMenu } from "./menu.js";
import { chatsOf, unreadOf } from "./places.js";
import { unreadBadge } from "./unread_badge.js";

export function createPersonSwitch(actions) {
  const menu = el("div", { class: "menu", id: "person-menu", role: "menu", "aria-label": "Who you are" });
  const names = { class: "person-switch", "data-testid": "person-switch", "aria-controls": "person-menu" };
  const opener = button(names);
  const language = languageChoice(actions);
  const root = el("div", { class: "person-box" }, opener, language.root, menu);
  const { close } = attachMenu(root, opener, menu);

  function choose(personId) {
    close();
    actions.becomePerson(personId);
  }

  let shown = null;
  function render(state) {
    const person = state.people.get(state.view.personId);
    if (!person) return;
    language.render(person.language_code);
    const options = [...state.people.values()].map((one) => planOption(state, one));
    const signature = JSON.stringify(options);
    if (signature === shown) return;
    shown = signature;
    fill(opener, openerParts(state, person));
    fill(
      menu,
      options.map((option) => optionButton(state, option, () => choose(option.person.id))),
    );
  }

  return { root, render };
}

function planOption(state, person) {
  const isChosen = person.id === state.view.personId;
  const counts = chatsOf(state, person.id).map((chat) => unreadOf(state, person.id, chat));
  return { person, isChosen, unread: isChosen ? 0 : counts.reduce((sum, count) => sum + count, 0) };
}

function openerParts(state, person) {
  const label = el("span", { class: "person-label" }, "You are");
  const text = el("span", { class: "person-text" }, label, nameOf(person, "person-name"));
  return [personAvatar(state, person, "medium"), text, operatorBadge(person), icon("down")];
}

function optionButton(state, { person, isChosen, unread }, onclick) {
  const props = {
    class: "menu-item",
    role: "menuitemradio",
    "aria-checked": String(isChosen),
    tabindex: "-1",
    "data-testid": "person-option",
    "data-person-id": person.id,
    onclick,
  };
  const handle = person.username ? `@${person.username}` : `id ${person.id}`;
  const hint = el("span", { class: "menu-hint" }, handle);
  const text = el("span", { class: "menu-text" }, nameOf(person, "menu-name"), hint);
  const marks = [operatorBadge(person), unreadBadge(unread), isChosen && icon("check")];
  return button(props, personAvatar(state, person, "medium"), text, marks);
}

const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fa: "فارسی",
  pt: "Português",
  ru: "Русский",
};

// The language of the person's Telegram. The code is shown, and the list of names opens over it.
function languageChoice(actions) {
  const label = "Language of your Telegram";
  const choose = () => actions.setLanguage(select.value);
  const select = el("select", { "aria-label": label, "data-testid": "language", onchange: choose });
  const code = el("span", { "aria-hidden": "true" });
  const root = el("label", { class: "language", title: label }, code, select);

  function render(current) {
    const [shown] = current.toLowerCase().split("-");
    if (code.textContent === shown) return;
    code.textContent = shown;
    const names = shown in LANGUAGES ? LANGUAGES : { [shown]: shown, ...LANGUAGES };
    const options = Object.entries(names).map(([value, name]) =>
      el("option", { value, lang: value, selected: value === shown }, name),
    );
    fill(select, options);
  }

  return { root, render };
}

function nameOf(person, name) {
  return el("span", { class: name }, fullName(person));
}

function operatorBadge(person) {
  if (!person.is_operator) return null;
  return el("span", { class: "role-badge", title: "May run the operator's commands" }, "operator");
}
