// Moves between messages with the arrow keys; R or Enter replies, E edits.

const MOVES = {
  ArrowUp: (at) => Math.max(at - 1, 0),
  ArrowDown: (at, last) => Math.min(at + 1, last),
  Home: () => 0,
  End: (_, last) => last,
};

export function moveBetweenMessages(event, list, messageOf, actions) {
  const row = event.target;
  if (!row.matches(".row[data-message-id]") || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...list.querySelectorAll(".row[data-message-id]")];
  const move = MOVES[event.key];
  const tool = toolFor(event.key, row);
  if (move) focusRow(row, rows[move(rows.indexOf(row), rows.length - 1)]);
  else if (tool) actions[tool](messageOf(row));
  else return;
  event.preventDefault();
}

function toolFor(key, row) {
  if (key === "Enter" || key === "r") return "startReply";
  return key === "e" && row.classList.contains("own") ? "startEdit" : null;
}

function focusRow(from, to) {
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
}
