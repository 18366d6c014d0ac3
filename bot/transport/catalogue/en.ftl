# Texts of the bot in English. Every key is in every language's file, with the same variables.

## /start and /help

help-private = I remember what you tell me in this chat. I never use it in other chats.
help-group = I answer when you reply to me, mention me or send me a command. What I learn in this group stays here, and each topic has its own memory.
help-administrators = For administrators, who can also use /forget on other people's messages:
help-operators = For operators of this bot:
help-editing = If you edit a message, I remember the new text instead.

help-operators-reset = /reset -1001234 — erase everything I remember from the chat with this ID

## Answers

nothing-to-show = The language model's answer had nothing in it that I can show. Please ask in a different way.
stopped = Stopped.
stopped-sending = Stopped. I won't send the rest of that answer.
stopped-mark = stopped
cut-length = cut off: the model's limit
cut-filter = cut off by the model's filter
unreadable = I can't read this kind of message. Please write it as text.
unknown-command = I don't know the command { $name }. Send /help to see what I can do.

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

## /usage and /stats

usage-title = Today's usage (UTC):
usage-none = Nothing has been used today.
usage-you = You: { $tokens }.
usage-you-money = You: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = This chat: { $tokens }.
usage-chat-money = This chat: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = All chats: { $tokens }.
usage-all-money = All chats: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
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

## /facts

list-page = These are { $first } to { $last } of { $total }.
list-delete = ❌ { $number }
list-back = ◀️ Back
list-more = More ▶️

## /forget and /reset

not-kept = I don't remember that message, so there's nothing to forget.
forgotten = I've forgotten that message. If another message repeats it, make me forget that one too.
forgotten-fact = I've forgotten that fact. The messages it came from are still here.
receipt-erased = Erased: { $things }.
receipt-details = Details
receipt-still = I checked, and this is still there: { $things }.
receipt-proven = I checked: nothing is left.
receipt-proven-text = I checked: the text itself is gone.
receipt-index-away = My search isn't responding right now, so I couldn't check it. It no longer finds these entries, and they'll be erased as soon as it's back.
receipt-unclean = The database's log file on disk keeps the old words until the operator of this bot has it rewritten.
receipt-not-copied = I couldn't note this erasure beside the database. If the operator of this bot ever restores an older backup, please ask again.

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
