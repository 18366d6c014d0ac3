// All sentences of the memory page.
import { number } from "./format.js";

export function count(amount, one, many = `${one}s`) {
  return `${number(amount)} ${amount === 1 ? one : many}`;
}

const messages = (amount) => count(amount, "message");

// Why something is not in a prompt, what it is, and how calls of tools end, as receipts name them.
const causes = {
  no_room: "no room",
  not_selected: "too old for the prompt",
  no_text: "without text",
  repeated: "already in the prompt",
};
const parts = {
  summary: ["summary", "summaries"],
  recalled: ["memory", "memories"],
  talk: ["overheard message"],
  window: ["message"],
  ledger: ["turn with tools", "turns with tools"],
  steps: ["step"],
};
const records = {
  messages: ["message"],
  summaries: ["summary", "summaries"],
  ledger_turns: ["record of tool calls", "records of tool calls"],
  artifacts: ["tool result"],
  facts: ["fact"],
  talk: ["overheard message"],
  quotes: ["quotation"],
  people: ["name"],
  sessions: ["conversation"],
  answer_receipts: ["receipt of an answer", "receipts of answers"],
};
const outcomes = { ok: "", error: "failed", replayed: "done before a restart" };

export const words = {
  // How requests fail.
  late: "The memory did not answer in time.",
  unreachable: "I cannot reach the memory. Please check your connection.",
  badAnswer: "Something went wrong here. Please try again.",
  tryAgain: "Try again",
  retryingIn: (seconds) => `I try again in ${count(Math.ceil(seconds), "second")}.`,
  offline: "You are offline. What you see may be out of date.",

  // Pages without content.
  outsideTitle: "Open me from the chat",
  outsideText: "This page shows what a Telegram bot remembers. Send /memory to the bot, then press “Open memory”.",
  expiredTitle: "Reopen this page from the chat",
  expiredText: "For your safety it works for an hour. Close it, then press “Open memory” in the chat.",
  dashboardExpiredTitle: "This link has expired",
  dashboardExpiredText: "Each link works once, and for a minute. Run mnemogram dashboard again.",
  refusedTitle: "I could not check who you are",
  forbiddenTitle: "This memory is not yours to see",
  failedTitle: "This did not work",
  unavailableTitle: "The memory is away for a moment",
  noChatTitle: "No chat to show",
  noChatText: "This session is for operations. To see your own memory, open the page from the chat.",

  // The frame.
  appName: "Memory",
  tabs: { memory: "Timeline", facts: "Facts", overview: "Overview", operations: "Operations" },
  tabsLabel: "Parts of this page",
  sideLabel: "About this memory",
  chats: "Chats",
  ownChat: "Our chat",
  topicOf: (title, id) => `Topic ${id} of ${title}`,
  unnamedGroup: "This group",
  remembered: (amount, since) => (since ? `${messages(amount)} since ${since}` : messages(amount)),
  loading: "Loading…",

  // The timeline.
  timelineLabel: (title) => `Timeline of ${title}`,
  emptyTitle: "Nothing here yet",
  emptyText: (bot) => `Write to @${bot}. What you talk about appears here.`,
  begins: "The memory of this chat begins here.",
  toNewest: "Go to the newest message",
  you: "You",
  unknownSender: "Somebody",
  edited: "edited",
  editedAt: (moment) => `Edited ${moment}`,
  stopped: "stopped",
  stoppedHint: "This answer was stopped before its end.",
  forwardedFrom: "Forwarded from ",
  showAll: "Show all",
  showLess: "Show less",
  forgetOne: "Forget this message",
  messageLabel: (sender, moment) => `${sender}, ${moment}`,
  noMessage: "That message is not here any more.",

  // Facts.
  factsTitle: "What I know",
  facts: (amount) => count(amount, "fact"),
  factsUnread: (amount) => `${messages(amount)} still unread`,
  moreFacts: (amount) => `Show more (${number(amount)})`,
  factsOffTitle: "Facts are off here",
  factsOff: (isGroup) =>
    isGroup
      ? "I learn no facts about people in this group. Administrators can change that: send /facts on there."
      : "I learn no facts about you. Send /facts on in our chat if you want me to.",
  factsNotOffered: "I learn no facts: the operator of this bot has turned them off, or there is no model for them.",
  factsStopped: "I learn no new facts here.",
  factsNoneTitle: "No facts yet",
  factsNone: "I learn them from what people tell about themselves and others, a minute after they have written.",
  noLongerTrue: "No longer true",
  factSince: (from) => `since ${from}`,
  factFromTo: (from, to) => (from === to ? from : `${from} to ${to}`),
  saidBy: "said by ",
  youInside: "you",
  somebodyInside: "somebody",
  corrected: "corrected",
  correctedHint: "A person has corrected this statement.",
  factMessage: "Message",
  factMessageOf: (position) => (position === 1 ? `Message ${number(1)}` : number(position)),
  showFactMessage: (position, amount) =>
    amount === 1 ? "Show its message in the timeline" : `Show message ${number(position)} of ${number(amount)} in the timeline`,
  correctFact: "Correct this fact",
  correctLabel: (subject) => `Statement about ${subject}`,
  correctHint: (most) => `One sentence, up to ${number(most)} characters.`,
  save: "Save",
  factCorrected: "Corrected. The old statement is erased.",
  factGone: "This fact was gone already.",
  forgetFact: "Delete this fact",
  forgetFactTitle: "Delete this fact?",
  forgetFactWhat: "I will erase it with its search entries.",
  forgetFactLimits: "The messages that it rests on stay. To erase them too, forget them in the timeline. You cannot undo this.",
  deleteButton: "Delete",

  // Receipts of answers.
  why: "Why this answer?",
  whyLoading: "Looking it up…",
  noReceipt: "The receipt of this answer has expired.",
  used: (amount) => (amount ? `${count(amount, "memory", "memories")} used` : "No memories used"),
  factsUsed: (amount) => `${count(amount, "fact")} used`,
  leftOutTitle: "Found, but left out",
  leftOutBecause: (cause) => `Left out: ${causes[cause] ?? cause}`,
  forgottenSince: "Forgotten since",
  windowUsed: (amount) => `The last ${messages(amount)} of the conversation`,
  factModel: "Model",
  factCost: "Cost",
  factPrompt: "Prompt",
  factAgent: "Agent",
  factTools: "Tools",
  factConversation: "Conversation",
  factLeftOut: "Left out",
  tokens: (read, written) => `${number(read)} read, ${number(written)} written`,
  promptOf: (used, room) => `${number(used)} of ${number(room)} tokens`,
  partLeftOut: (part, amount, cause) => `${count(amount, ...(parts[part] ?? [part]))}: ${causes[cause] ?? cause}`,
  outcome: (outcome) => outcomes[outcome] ?? outcome,
  andSummary: " and the summary of older ones",

  // Why a message was found.
  hasWords: (list) => `has the ${list.length === 1 ? "word" : "words"} ${list.map((word) => `“${word}”`).join(", ")}`,
  sharesWords: "shares words",
  similarMeaning: "similar meaning",
  fromThatDay: "from that day",
  from: (sender) => `from ${sender}`,
  fromThatWriter: "from that writer",

  // Search.
  searchLabel: "Search this memory",
  backToHits: "Back to the hits",
  clearSearch: "Clear the search",
  searching: "Searching…",
  hits: (amount) => (amount ? `${count(amount, "hit")}, the best first` : "No hits"),
  lessLikely: (amount) => `Less likely (${number(amount)})`,
  noHitsTitle: "Nothing found",
  noHitsText: "Try other words, a name, or a date such as “last Tuesday”.",
  unsearchableTitle: "I cannot search right now",
  unsearchableText: "The search index does not answer. The timeline still works.",
  showInTimeline: "Show in the timeline",

  // Selecting and forgetting.
  select: "Select messages",
  selectOne: (sender, moment) => `Select the message of ${sender}, ${moment}`,
  selected: (amount) => (amount ? `${number(amount)} selected` : "Select messages to forget"),
  selectAll: "All hits",
  tooMany: (most) => `You can forget up to ${messages(most)} at once.`,
  cancel: "Cancel",
  forget: "Forget",
  forgetTitle: (amount) => (amount === 1 ? "Forget this message?" : `Forget ${messages(amount)}?`),
  forgetWhat: "I will erase their texts, their search entries, their receipts, and the summaries that contain them.",
  forgetWhatOne: "I will erase its text, its search entry, its receipt, and the summaries that contain it.",
  forgetLimits: "Other messages that repeat the same stay, and so does the chat in Telegram. You cannot undo this.",
  keep: "Keep",
  forgetting: "Erasing, then reading back…",
  forgotten: "Forgotten",
  notProven: "Not everything is erased yet",
  nothingErased: "There was nothing to erase",
  alreadyGone: (amount) =>
    amount === 1 ? "One of them was gone already." : `${number(amount)} of them were gone already.`,
  allGone: (amount) => (amount === 1 ? "This message was gone already." : "These messages were gone already."),
  counts: "All counts",
  readBack: "Read back afterwards",
  nothingLeft: "nothing left",
  erased: "Erased",
  left: "Still there",
  entries: (amount) => count(amount, "search entry", "search entries"),
  vectorsUnknown: "the search index does not answer; it erases its entries later",
  records: (kind, amount) => count(amount, ...(records[kind] ?? [kind, kind])),
  done: "Done",
  close: "Close",
  resetTitle: "Forget everything?",
  resetWhat: (title, amount) =>
    `I will erase all that I remember from “${title}”: ${messages(amount)}, summaries, tool results, receipts and search entries.`,
  resetLimits: "The chat in Telegram stays as it is. You cannot undo this.",
  resetButton: "Forget everything",
  resetConfirm: "Erase everything",

  // The overview.
  statMessages: "messages",
  statSince: "remembered since",
  summaryTitle: "Summary of older messages",
  summaryNone: "No summary yet. I write one when our conversation becomes long.",
  summaryCovers: (amount, first, last) =>
    `Covers ${messages(amount)}${first && last ? `, ${first === last ? first : `${first} to ${last}`}` : ""}.`,
  summaryMade: (moment) => `Written ${moment}.`,
  artifactsTitle: "Tool results",
  artifactsNone: "No tool results are kept.",
  letters: (amount) => count(amount, "character"),
  artifactExpires: (moment) => `Kept until ${moment}`,
  dataTitle: (isGroup) => (isGroup ? "Data of this group" : "Your data"),
  exportButton: (isGroup) => (isGroup ? "Send me this memory" : "Send me my data"),
  exportHint: "I send you a file with everything I remember from here, in our private chat.",
  exporting: "Preparing the file…",
  exported: (name, size) => `Sent to our chat: ${name} (${size}).`,
  resetHint: "Erases the whole memory of this chat, and shows what reading back found.",
  about: (bot, version) => `@${bot} · Mnemogram ${version}`,
};
