# Texts of the bot in English. Every key is in every language's file, with the same variables.

## /start and /help

start-private =
    Hi! I'm an assistant that remembers what you tell me.
    Tell me anything, and ask me about it later.
start-group =
    Hi! I'm an assistant that remembers this group.
    Reply to me or mention me, and I'll answer.
start-erasing = What you say here stays in this chat, and /reset erases it.
start-offline = There's no language model behind me right now, so I can't chat freely. But I remember what you tell me, and I quote it when you ask.
start-offline-operator = For operators: set OPENAI_API_KEY to get real answers.
start-button = What can you do?
start-page =
    Press the button to open the memory of your group. { $viewers ->
        [members] Only its members can see it.
       *[administrators] Only its administrators can see it.
    }
start-page-off = The memory page of groups is turned off, so I can't open it.
help-private = I remember what you tell me in this chat. I never use it in other chats.
help-group = I answer when you reply to me, mention me or send me a command. What I learn in this group stays here, and each topic has its own memory.
help-administrators = For administrators, who can also use /forget on other people's messages:
help-operators = For operators of this bot:
help-editing = If you edit a message, I remember the new text instead.

help-new = /new — start a new conversation; I can still search the old ones
help-catchup = /catchup — see what was said since you last wrote; or /catchup 2h, /catchup 10:00, /catchup 50
help-memory = { $place ->
    [group] /memory — see what I remember from this group or topic
   *[private] /memory — see what I remember from this chat
 }
help-facts = /facts — see what I know about you, and correct or delete it
help-reminders = /reminders — see the reminders of this chat, and cancel them
help-timezone = /timezone — see or change your time zone, which I need for reminders
help-why = /why — as a reply to an answer: see what it was made of
help-forget = /forget — as a reply: erase that message everywhere
help-reset = { $place ->
    [group]
        /reset — erase everything I remember from this group or topic
        /reset all — do the same for all topics of the group
   *[private] /reset — erase everything I remember from this chat
 }
help-stop = /stop — stop the answer I'm writing
help-model = /model — see which model answers here, and choose another
help-voice = /voice — choose when I answer with voice messages
help-usage = /usage — see today's usage and the limits
help-help = /help — show this text
help-stats = /stats — see the number of chats, the queue and today's usage; /stats month: a month's usage
help-operators-reset = /reset -1001234 — erase everything I remember from the chat with this ID

## Menu of commands (up to 256 characters each)

menu-help = What I can do
menu-new = Start a new conversation; I can still search the old ones
menu-catchup = See what was said since you last wrote
menu-memory = See what I remember from this chat
menu-facts = See what I know about you, and correct or delete it
menu-reminders = See the reminders of this chat, and cancel them
menu-timezone = See or change your time zone
menu-why = As a reply to an answer: see what it was made of
menu-forget = As a reply: erase that message everywhere
menu-reset = Erase everything I remember from this chat
menu-stop = Stop the answer I'm writing
menu-model = See which model answers here, and choose another
menu-voice = Choose when I answer with voice messages
menu-usage = See today's usage and the limits
menu-stats = For operators: chats, queue and usage

## Answers

nothing-to-show = The language model's answer had nothing in it that I can show. Please ask in a different way.
stopped = Stopped.
stopped-sending = Stopped. I won't send the rest of that answer.
stopped-mark = stopped
cut-length = cut off: the model's limit
cut-filter = cut off by the model's filter
nothing-to-stop = There's nothing to stop: I'm not writing an answer.
unreadable = I can't read this kind of message. Please write it as text.
unknown-command = I don't know the command { $name }. Send /help to see what I can do.
new-conversation = We've started a new conversation. I still remember the earlier ones and can search them.

## Failures

buried = I couldn't finish my answer to an earlier message, although I tried several times. I've set it aside for the operator and I'm going on with the next one.
buried-edit = You edited a message, but I couldn't save the new text, although I tried several times. I've set it aside for the operator. To erase the message, reply to it with /forget.
failure-model-unavailable = I can't reach the language model right now. I've saved your message, so please ask again in a few minutes.
failure-model-quota = The language model's account has run out of quota. I can't answer until the operator fixes it.
failure-model-refused = The language model rejected my request, so I can't answer. The operator can find the reason in the log.
failure-model-filtered = The language model's content filter refused this, so I can't answer. Please say it in other words.
quoted-words = “{ $text }”
refused-messages =
    { $count ->
        [one] The language model's filter refused your message { $messages }, so I've left it out of our conversation. Please say it in other words. If you edit the message, I'll use it again.
       *[other] The language model's filter refused your messages { $messages }, so I've left them out of our conversation. Please say it in other words. If you edit a message, I'll use it again.
    }
# The answer ends with this if something else than the question was refused.
left-out =
    { $what ->
        [quote] I answered without the message that you replied to, because the language model's filter refused it.
        [talk] I answered without the latest talk of this group, because the language model's filter refused it.
        [memories] I left out some older messages, because the language model's filter refused them. I won't use them in answers any more.
       *[conversation] I left out what we had said before, because the language model's filter refused it, and we've started a new conversation. I can still search the earlier one.
    }
failure-prompt-too-long = That's more than the language model can read at once. Please send it in smaller parts.
failure-model-silent = The language model returned an empty answer twice. Please ask in a different way, or try again.
failure-deadline = That took too long, so I stopped. Please try again, perhaps with a smaller question.
failure-other = Something went wrong, and I couldn't answer. Please try again.

## Permissions

refused = I'm sorry, I'm not allowed to talk in this chat. I haven't saved anything you wrote.
administrators-only = Only the administrators of this group can do that. Nothing was changed.
operators-only = Only the operators of this bot can do that. Nothing was changed.
cannot-check = I couldn't ask Telegram who the administrators of this group are, so nothing was changed. Please try again.
others-message = You can only make me forget your own messages here. Administrators can also make me forget other people's messages and my answers. Nothing was changed.
invitation-accepted = Welcome! Your invitation has been accepted, and you can talk to me now.
invitation-invalid = This invitation isn't valid: it's unknown, already used or expired. Please ask the person who invited you for a new link.
invitation-later = You've tried too many invalid invitations. Please wait an hour before you try another one.

## Groups

group-joined = Hi! I'm an assistant that remembers this group. What I learn here stays here.
group-promoted = I'm an administrator here now, so I can see more than before.
group-sees-all = I can see every message here, but I only answer when you address me.
group-sees-addressed = I only see messages that are meant for me: replies to me, mentions of { $bot } and commands. If you'd like me to follow the conversation too, make me an administrator. Or ask my owner to turn off my privacy mode (/setprivacy at @BotFather) and to add me to the group again.
group-keeps-talk =
    { $count ->
        [one] To understand what you're talking about, I also keep the latest message that isn't meant for me, for a week at most.
       *[other] To understand what you're talking about, I also keep the latest { $count } messages that aren't meant for me, for a week at most.
    }
group-keeps-addressed = I only save what you say to me and what I answer.
group-addressing = Reply to me or mention { $bot }, and I'll answer. Send /help to see what I can do, or /memory to see what I remember. Administrators can erase all of it with /reset.

## Limits (wait = one of the wait-… below)

limit-user-messages =
    { $limit ->
        [one] I can answer you once a minute
       *[other] I can answer you { $limit } times a minute
    }, and you've reached that limit. Please try again in { $wait }.
limit-chat-messages =
    { $limit ->
        [one] I can answer once a minute in this chat
       *[other] I can answer { $limit } times a minute in this chat
    }, and you've reached that limit. Please try again in { $wait }.
limit-user-tokens =
    { $limit ->
        [one] You've used your { $limit } token for today.
       *[other] You've used all of your { $limit } tokens for today.
    } I can answer you again in { $wait }, when the new day starts (00:00 UTC).
limit-chat-tokens =
    { $limit ->
        [one] This chat has used its { $limit } token for today.
       *[other] This chat has used all of its { $limit } tokens for today.
    } I can answer here again in { $wait }, when the new day starts (00:00 UTC).
limit-user-money = You've reached your spending limit for today ({ NUMBER($limit, maximumFractionDigits: 4) }). I can answer you again in { $wait }, when the new day starts (00:00 UTC).
limit-chat-money = This chat has reached its spending limit for today ({ NUMBER($limit, maximumFractionDigits: 4) }). I can answer here again in { $wait }, when the new day starts (00:00 UTC).
limit-all-money = The budget for this month is used up, so I can't answer right now. I'll be back on { DATETIME($date, dateStyle: "long") } (00:00 UTC).
budget-warning = { $percent }% of this month's budget is used: { NUMBER($money, maximumFractionDigits: 4) } of { NUMBER($limit, maximumFractionDigits: 4) }. When all of it is used, I answer only operators until { DATETIME($date, dateStyle: "long") } (00:00 UTC). Send /stats month to see the costs.
budget-used-up = This month's budget is used up: { NUMBER($money, maximumFractionDigits: 4) } of { NUMBER($limit, maximumFractionDigits: 4) }. Until { DATETIME($date, dateStyle: "long") } (00:00 UTC) I answer only operators. Send /stats month to see the costs.
wait-seconds =
    { $count ->
        [one] { $count } second
       *[other] { $count } seconds
    }
wait-minutes =
    { $count ->
        [one] { $count } minute
       *[other] { $count } minutes
    }
wait-hours =
    { $count ->
        [one] { $count } hour
       *[other] { $count } hours
    }

## /model

model-current = My answers here come from { $model }.
model-choose =
    { $place ->
        [group] Administrators can tap a model to change that.
       *[private] Tap a model to change that.
    }
model-unknown = I don't have a model named { $model }. Send /model to see the models you can choose.
# The answer of a turn whose model is gone ends with this.
model-missing = { $model } is not available, so { $other } answered.

# /voice
voice-current =
    { $choice ->
        [never] Here I answer with text.
        [when_spoken_to] Here I answer voice messages with voice messages, and text with text.
       *[always] Here I answer with voice messages, with the text below.
    }
voice-choose =
    { $place ->
        [group] Administrators can tap a choice to change that.
       *[private] Tap a choice to change that.
    }
voice-label =
    { $choice ->
        [never] Never
        [when_spoken_to] When spoken to
       *[always] Always
    }
voice-none = I can't speak, because this bot has no model for speech. I answer with text.

## /usage and /stats

stats-contexts = Chats and topics: { $count }.
stats-queue =
    { $count ->
        [0] The queue is empty.
       *[other] In the queue: { $count }. The oldest has been waiting for { $oldest }.
    }
usage-title = Today's usage (UTC):
usage-none = Nothing has been used today.
usage-you = You: { $tokens }.
usage-you-money = You: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = This chat: { $tokens }.
usage-chat-money = This chat: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = All chats: { $tokens }.
usage-all-money = All chats: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
costs-title = Usage in { $month } (UTC):
costs-none = Nothing was used in { $month } (UTC).
costs-used = { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = Of that, summaries and facts took { $used }.
costs-budget = Budget for a month: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = People who used the most:
costs-chats = Chats that used the most:
costs-line = { $number }. { $name }: { $used }
costs-in-private = To see people and chats, send me this command in private.
costs-usage = Send /stats month to see this month, or /stats month { $month } to see an earlier one. I keep 13 months.
usage-limits-none = There are no limits.
usage-limits-you = Limits for each person: { $limits }.
usage-limits-chat = Limits for each chat: { $limits }.
usage-resets = The day's count starts over in { $wait }.
usage-tokens =
    { $count ->
        [one] { $count } token
       *[other] { $count } tokens
    }
usage-limit-messages =
    { $count ->
        [one] { $count } message a minute
       *[other] { $count } messages a minute
    }
usage-limit-tokens =
    { $count ->
        [one] { $count } token a day
       *[other] { $count } tokens a day
    }
usage-limit-money = cost { NUMBER($money, maximumFractionDigits: 4) } a day

## Counts, always after a colon or in a list

list-separator = {", "}
count-messages =
    { $count ->
        [one] { $count } message
       *[other] { $count } messages
    }
count-facts =
    { $count ->
        [one] { $count } fact
       *[other] { $count } facts
    }
count-reminders =
    { $count ->
        [one] { $count } reminder
       *[other] { $count } reminders
    }
count-vectors =
    { $count ->
        [one] { $count } search entry
       *[other] { $count } search entries
    }
count-summaries =
    { $count ->
        [one] { $count } summary
       *[other] { $count } summaries
    }
count-tool-notes =
    { $count ->
        [one] { $count } note about tools I used
       *[other] { $count } notes about tools I used
    }
count-results =
    { $count ->
        [one] { $count } saved document or result
       *[other] { $count } saved documents or results
    }
count-talk =
    { $count ->
        [one] { $count } message that wasn't meant for me
       *[other] { $count } messages that weren't meant for me
    }
count-quotes =
    { $count ->
        [one] { $count } quotation
       *[other] { $count } quotations
    }
count-updates =
    { $count ->
        [one] { $count } waiting message
       *[other] { $count } waiting messages
    }
count-unsent =
    { $count ->
        [one] { $count } message that wasn't sent yet
       *[other] { $count } messages that weren't sent yet
    }

## /memory

memory-nothing = I don't remember anything from this chat.
memory-messages =
    { $count ->
        [0] I don't remember any messages from this chat.
        [one] I remember { $count } message from this chat, since { DATETIME($since, dateStyle: "long") }.
       *[other] I remember { $count } messages from this chat, since { DATETIME($since, dateStyle: "long") }.
    }
memory-conversation =
    { $count ->
        [one] { $count } of them is in our current conversation.
       *[other] { $count } of them are in our current conversation.
    }
memory-searchable =
    { $count ->
        [one] I can search { $count } of them.
       *[other] I can search { $count } of them.
    }
memory-searchable-all =
    { $count ->
        [1] I can search it.
       *[other] I can search all of them.
    }
memory-unsearchable = I can't search them right now.
memory-also = I also remember: { $things }.
memory-talk = To follow the conversation, I also keep for a short time: { $things }.
memory-agent = The agent { $agent } has taken over this chat and answers here.
memory-erasing = To erase one message, reply to it with /forget. To erase everything, send /reset.
memory-summary = A summary of our earlier conversation:
memory-open = Open memory

## /catchup (when = a date and a time of UTC)

catchup-private = /catchup is for groups: there I tell you what was said while you were away.
catchup-usage = I didn't understand that. You can send /catchup (since you last wrote), /catchup 2h, /catchup 30m, /catchup 10:00 (UTC), /catchup yesterday, or /catchup 50 (the last 50 messages).
catchup-yesterday = yesterday
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } UTC
catchup-own-title =
    { $count ->
        [one] What was said since you last wrote ({ $when }), { $count } message:
       *[other] What was said since you last wrote ({ $when }), { $count } messages:
    }
catchup-new-title =
    { $count ->
        [one] I don't know when you last wrote here, so this is what I've heard since { $when }, { $count } message:
       *[other] I don't know when you last wrote here, so this is what I've heard since { $when }, { $count } messages:
    }
catchup-since-title =
    { $count ->
        [one] What was said since { $when }, { $count } message:
       *[other] What was said since { $when }, { $count } messages:
    }
catchup-last-title =
    { $count ->
        [one] The last message, of { $when }:
       *[other] The last { $count } messages, since { $when }:
    }
catchup-cut =
    { $count ->
        [one] There was more, but I can only read the latest message at once.
       *[other] There was more, but I can only read the latest { $count } messages at once.
    }
catchup-point = • { $text } ({ $when })
catchup-point-by = • { $text } ({ $when }, { $name })
catchup-little = Nothing important: only small talk.
catchup-own-nothing = You haven't missed anything: I've heard nothing here since you last wrote ({ $when }).
catchup-since-nothing = I've heard nothing here since { $when }.
catchup-nothing = I haven't heard anything here yet.
catchup-deaf = I only hear what is meant for me, unless I'm an administrator here or my owner turns off my privacy mode.
catchup-failed = I can't reach the language model right now. Please send /catchup again in a few minutes.
catchup-unusable = I couldn't use the language model's answer. Please send /catchup again.
catchup-too-much = That was too much to read at once. Please ask for less, for example /catchup 50.
catchup-changed = Messages were changed or erased while I was reading them. Please send /catchup again.

## /facts

facts-title =
    { $place ->
        [group] What I know about you or from you here:
       *[private] What I know from this chat:
    }
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (until { DATETIME($date, dateStyle: "long") })
list-page = These are { $first } to { $last } of { $total }.
facts-none =
    { $place ->
        [group] I don't know any facts about you or from you here yet.
       *[private] I don't know any facts from this chat yet.
    }
facts-buttons = Press ❌ to delete a fact, or ✏️ to correct it. /facts off deletes all of them and stops me from learning new ones.
facts-unread =
    { $count ->
        [one] I'm still reading { $count } message. This list will update itself when I'm done.
       *[other] I'm still reading { $count } messages. This list will update itself when I'm done.
    }
list-delete = ❌ { $number }
facts-correct = ✏️ { $number }
list-back = ◀️ Back
list-more = More ▶️
facts-cancel = Cancel
facts-ask = What is right instead of “{ $statement }”? Reply to this message within an hour.
facts-noted = Noted: “{ $statement }”
facts-too-long = Please write it in one sentence of at most { $limit } characters, again as a reply to my question. Nothing was changed.
fact-deleted = I've forgotten that fact. The message that told me stays: to erase it, reply to it with /forget.
facts-outdated = This list is out of date: that fact was changed or deleted. Here's what I know now.
facts-not-yours = Only the person who sent /facts and the administrators of this group can press these buttons.
facts-usage = Send /facts to see what I know about you. /facts off deletes it and stops me from learning more; /facts on lets me learn again. In groups, /facts off all is for administrators and covers everybody.
facts-unavailable = I don't learn facts here: the operator of this bot has turned them off, or there's no model for it.
facts-are-off-private = I don't learn facts in this chat. Send /facts on if you'd like me to.
facts-are-off-group = I don't learn facts here. An administrator can change that with /facts on.
facts-are-off-person = I don't learn facts about you here. Send /facts on if you'd like me to.
facts-on-private = From now on I'll learn facts in this chat, from what you say next. /facts shows them.
facts-on-group = From now on I'll learn facts here, from what people say to me next. Everybody can see theirs with /facts, and say no with /facts off.
facts-on-person = From now on I'll learn facts about you here, from what you say to me next. /facts shows them.
facts-already-on = I already learn facts here, also about you. /facts shows them.
facts-off-private = I won't learn facts in this chat any more, and I've deleted those I had.
facts-off-group = I won't learn facts here any more, and I've deleted those I had.
facts-off-person = I won't learn facts about you or from you here any more, and I've deleted those I had.

## /reminders and /timezone (when = a date and a time)

reminder-when = { DATETIME($date, dateStyle: "long") }, { $time }
reminder-when-repeated = { $when } ({ $repeats ->
        [hourly] every hour
        [daily] every day
        [weekdays] Monday to Friday
        [weekly] every week
        [monthly] every month
        [yearly] every year
       *[other] repeats
    })
reminder-due = ⏰ { $text }
reminder-due-group = ⏰ { $name }: { $text }
reminder-late = I'm late with this: it was due on { $when }.
reminder-missed = I couldn't send this reminder when it was due ({ $when }): { $text }
reminders-title = Reminders in this chat:
reminders-line = { $number }. { $when }: { $text }
reminders-line-by = { $number }. { $when }, { $name }: { $text }
reminders-none = There are no reminders in this chat. To get one, write for example: “Remind me in 20 minutes to water the plants.”
reminders-buttons = Press ❌ to cancel a reminder.
reminders-zone = These times are in the time zone { $zone }. To change it, send /timezone.
reminders-cancelled = Cancelled: “{ $text }”
reminders-gone = This list is out of date: that reminder was sent or cancelled. Here's what is left.
reminders-not-yours = Only the person who set this reminder and the administrators of this group can cancel it.
timezone-shown = Your time zone is { $zone }, where it's { $time } now. To change it, send for example /timezone Lisbon. To make me forget it, send /timezone off.
timezone-none = I don't know your time zone. Send me a big city in it, for example /timezone Lisbon, or send me your location as a reply to this message.
timezone-set = Your time zone is now { $zone }, where it's { $time }. Reminders that you set earlier keep their time.
timezone-off = I've forgotten your time zone.
timezone-unknown = I don't know the time zone “{ $name }”, so nothing was changed. Send me a big city in your time zone, for example /timezone Lisbon, or your offset, for example /timezone UTC+3.
timezone-choose = Which of these is your time zone?
timezone-other = None of these
timezone-help = Send me a bigger city or your country, for example /timezone Lisbon, your offset, for example /timezone UTC+3, or the time on your clock, for example /timezone 14:05.
timezone-fixed = It has no summer time. If your clock changes in summer, press a city that has your time now:
timezone-meant = If you meant another place, press it:

## /why

count-memories =
    { $count ->
        [one] { $count } memory
       *[other] { $count } memories
    }
count-other-things =
    { $count ->
        [one] { $count } other thing
       *[other] { $count } other things
    }
why-title =
    { $which ->
        [last] What my last answer was made of:
       *[this] What that answer was made of:
    }
why-memories = From memory:
why-memory = • { $day }, { $writer }: “{ $words }”
why-fact = • { $day }, about { $subject }: “{ $words }”
why-day = { DATETIME($date, dateStyle: "long") }
why-me = me
why-somebody = somebody
why-origin =
    { $origin ->
        [forwarded] { $writer }, forwarded
        [via_bot] { $writer }, through another bot
       *[attached] { $writer }, attached
    }
why-more =
    { $count ->
        [one] And { $count } more message.
       *[other] And { $count } more messages.
    }
why-forgotten =
    { $count ->
        [one] { $count } message has been forgotten since.
       *[other] { $count } messages have been forgotten since.
    }
why-facts-forgotten =
    { $count ->
        [one] { $count } fact has been forgotten since.
       *[other] { $count } facts have been forgotten since.
    }
why-nothing-recalled = From memory: nothing.
why-also = I also read: { $things }.
why-window =
    { $count ->
        [one] the latest message of our conversation
       *[other] the latest { $count } messages of our conversation
    }
why-summary = a summary of our earlier conversation
why-tools = Tools: { $tools }.
why-tool-failed = { $tool } (failed)
why-no-room = Left out for lack of room: { $things }.
why-too-old = Left out as too old: { $things }.
why-tokens = Model: { $models }. Read: { $read }. Written: { $written }.
why-cost = Cost: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = That message isn't one of my answers, or I've forgotten it. Reply with /why to one of my answers.
why-none = I haven't answered anything in this conversation yet.
why-no-receipt = I don't have the details of that answer. I keep them for 30 days at most.

## /forget and /reset

forget-usage = Reply with /forget to the message I should forget, yours or mine. Nothing was changed.
not-kept = I don't remember that message, so there's nothing to forget.
forgotten = I've forgotten that message. If another message repeats it, make me forget that one too.
forgotten-several = I've forgotten those messages. If another message repeats them, make me forget that one too.
forgotten-unanswered = I've forgotten that message. I couldn't answer it, and only kept it for another try.
forgotten-unkept = I've forgotten that message. I didn't remember it itself, but I've erased other things here that mentioned it.
forgotten-fact = I've forgotten that fact. The messages it came from are still here.
forgotten-reminder = I've deleted that reminder. The messages about it are still here.
forget-interrupted = I was interrupted, so I may have erased more than these counts say.
forget-doubt = To erase everything I remember from this chat, send /reset.
forget-used =
    { $count ->
        [one] { $count } of my answers used it and may repeat it.
       *[other] { $count } of my answers used it and may repeat it.
    }
forget-used-several =
    { $count ->
        [one] { $count } of my answers used them and may repeat them.
       *[other] { $count } of my answers used them and may repeat them.
    }
forget-rests = So may what rests on them: { $things }.
forget-answers-button = Forget them too
unknown-chat-id = Please give the ID of the chat, for example /reset -1001234. Nothing was changed.
reset-asks =
    { $scope ->
        [topic] This erases everything I remember from this topic.
        [all] This erases everything I remember from this chat and all its topics.
       *[chat] This erases everything I remember from this chat.
    } You can't undo it. To go ahead, press the button within ten minutes.
reset-button = Erase everything
reset-not-yours = Only the person who sent /reset can press this button.
reset-expired = This button has expired, and nothing was erased. Send /reset again if you still want to erase everything.
reset-nothing = There was nothing to erase.
reset-chat = I've erased everything I remembered from this chat.
reset-topic = I've erased everything I remembered from this topic.
reset-all = I've erased everything I remembered from this chat and all its topics.
reset-other = I've erased everything I remembered from chat { $chat }.
reset-doubt = Something new arrived while I was checking. Send /reset again to be sure.
receipt-erased = Erased: { $things }.
receipt-details = Details
receipt-still = I checked, and this is still there: { $things }.
receipt-proven = I checked: nothing is left.
receipt-proven-text = I checked: the text itself is gone.
receipt-index-away = My search isn't responding right now, so I couldn't check it. It no longer finds these entries, and they'll be erased as soon as it's back.
receipt-unclean = The database's log file on disk keeps the old words until the operator of this bot has it rewritten.

## Files that cannot be read in messages without text

media-unseen = I can't see pictures: my language model only reads text. Tell me what's in it, and I'll help with that.
media-no-picture = I couldn't open this picture. Please send it again as a photo, or as a JPEG, PNG, WebP or GIF file.
media-deaf = I can't listen to recordings, because transcription isn't set up here. Please send it as text.
media-unheard = I couldn't open this recording: I can't play its format. Please record it again, or send it as text.
media-silent = I listened to your recording, but I couldn't make out any words. Please try again a little louder, or send it as text.
media-unavailable = I couldn't listen to your recording, because the transcription service isn't responding. Please send it again later, or as text.
media-too-long = This recording is { $duration } long, and I can listen to { $limit } minutes at most. Please send a shorter one.
media-too-large = This file is too large for me: I can read up to { $limit } MB. Please send a smaller file, or just the part that matters.
media-gone = Telegram no longer gives me this file. Please send it again.
media-not-fetched = I couldn't get this file from Telegram just now. Please send it again in a moment.
media-moving = I can't watch videos or animations. Send me a photo of what matters, or describe it in words.
media-unknown = I can't read this kind of file. I can read text, Markdown, CSV, JSON, source code and PDF. Please send it in one of these formats, or paste the text into a message.
media-empty = This file is empty. Please check it and send it again.
media-encoding = I can't tell which encoding this text has. Please save it as UTF-8 and send it again, or paste the text into a message.
media-pdf-encrypted = This PDF is protected, and I can't open it. Please send it without a password.
media-pdf-corrupt = I couldn't open this PDF: the file is damaged, or it isn't a PDF. Please send it again.
media-pdf-empty = There's no text in this PDF.
media-pdf-scanned = This PDF only contains pictures of its pages, so there's no text for me to read. Please send a PDF with text, or photos of the pages that matter.
media-pdf-too-much = This PDF is too big for me to read. Please send a smaller one, or just the pages that matter.

## Previews and long answers

rest-in-file = The full answer is in the file { $name } below.
rest-not-shown = The answer goes on, but I can't send files in this chat. Ask me for the part that you need.
whole-in-file = The whole answer is in this file, so that your next message doesn't have to wait.
file-not-sent = I couldn't send the file { $name }. Ask me to make it again.
preview-writing = I'm writing an answer…
preview-stop = ⏹ Stop
preview-tool = ⚙️ Using the tool { $tool }…
inline-ask = Ask { $bot }
inline-open = Open the bot
inline-erased = My memory was erased before I could answer. Please ask again.
inline-cut = The answer is longer than one message. Ask me in our private chat to read all of it.

## Buttons

answer-written = I've already finished that answer.
button-unknown = This button doesn't do anything any more.
button-gone = I can't tell which topic this message is in any more, so I've changed nothing. Please send { $command } in the topic.
stop-not-yours = Only the person who asked and the administrators of this group can stop this answer.
