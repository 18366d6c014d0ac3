# Texts of the bot in English. Every key is in every language's file, with the same variables.

## /start and /help

start-private =
    Hi! I'm an assistant that remembers what you tell me.
    Tell me anything, and ask me about it later.
start-group =
    Hi! I'm an assistant that remembers this group.
    Reply to me or mention me, and I'll answer.
start-erasing = What you say here stays in this chat, and /reset erases it.
start-offline = I'm running on the offline model, a small stand-in for a language model. For real answers, set OPENAI_API_KEY.
start-button = What can you do?
help-private =
    I remember what you tell me in this chat. I never use it in other chats.

    /new — start a new conversation; I can still search the old ones
    /memory — see what I remember from this chat
    /forget — as a reply: erase that message everywhere
    /reset — erase everything I remember from this chat
    /stop — stop the answer I'm writing
    /usage — see today's usage and the limits
    /help — show this text

    If you edit a message, I remember the new text instead.
help-group =
    I answer when you reply to me, mention me or send me a command. What I learn in this group stays here, and each topic has its own memory.

    /memory — see what I remember from this group or topic
    /forget — as a reply: erase that message everywhere
    /stop — stop the answer I'm writing
    /usage — see today's usage and the limits
    /help — show this text

    For administrators, who can also use /forget on other people's messages:
    /new — start a new conversation; I can still search the old ones
    /reset — erase everything I remember from this group or topic
    /reset all — do the same for all topics of the group

    If you edit a message, I remember the new text instead.
help-operator =
    For operators of this bot:
    /stats — see the number of chats, the queue and today's usage
    /reset -1001234 — erase everything I remember from the chat with this ID

## The menu of commands (at most 256 characters each)

menu-help = What I can do
menu-new = Start a new conversation; older memory stays searchable
menu-memory = What I keep of this chat
menu-forget = As a reply: erase that message from what I keep
menu-reset = Erase what I keep of this chat
menu-stop = Stop the answer being written
menu-usage = What was used today, and the limits
menu-stats = For operators: contexts, the queue, usage

## Answers

nothing-to-show = The language model's answer has nothing in it that can be shown. Please put it another way.
stopped = Stopped.
stopped-mark = stopped
nothing-to-stop = There is nothing to stop: I am not writing an answer.
unreadable = I cannot see what is in this kind of message. Please say it in words.
unknown-command = I do not know the command { $name }. /help lists those that I know.
new-conversation = A new conversation. What was said before is still in my memory, and I can search it.

## What went wrong

buried = I could not finish my answer to an earlier message: something went wrong each time that I tried. It is set aside for the operator, and I go on with the next one.
buried-edit = You edited a message, and I could not take over what it says now: something went wrong each time that I tried. It is set aside for the operator. /forget as a reply erases the message.
failure-model-unavailable = The language model cannot be reached right now. Your message is in my memory; please ask again in a little while.
failure-model-quota = The language model's account has run out of quota, so I cannot answer until the operator sees to it.
failure-model-refused = The language model did not accept my request, so I cannot answer. The operator can see the reason in the log.
failure-prompt-too-long = That was more than the language model can read at once. Please send it in smaller parts.
failure-model-silent = The language model gave an empty answer, twice. Please put it another way, or try again.
failure-deadline = That took too long, so I stopped. Please try again, perhaps with a smaller question.
failure-other = Something went wrong, and I could not answer. Please try again.

## Who may do what

refused = I am sorry, I may not talk in this chat. Nothing that you wrote was kept.
administrators-only = Only the administrators of this group may do that. Nothing was changed.
operators-only = Only the operators of this bot may do that. Nothing was changed.
cannot-check = I could not check with Telegram who administers this group, so nothing was changed. Please try again.
others-message = You may have your own messages forgotten here. Those of others, and my answers, only the administrators of this group may. Nothing was changed.
invitation-accepted = Welcome! Your invitation is accepted, and from now on I answer you.
invitation-invalid = This invitation is unknown, used or too old. Please ask whoever invited you for a new link.
invitation-later = You have tried too many invitations that I do not know. Please wait an hour before the next one.

## Groups

group-joined = Hello! I am an assistant that remembers this group, and uses what it knows of it in no other chat.
group-promoted = I am an administrator here now, and see more than before.
group-sees-all = I see every message here, and answer only when I am addressed.
group-sees-addressed = I see only what is meant for me: replies to me, mentions of { $bot } and commands. To let me follow the talk as well, make me an administrator, or have my owner turn my privacy mode off (/setprivacy at @BotFather) and add me to the group again.
group-keeps-talk =
    { $count ->
        [one] Of the talk that is not addressed to me I keep the newest message, for a week at most, so that I know what you mean.
       *[other] Of the talk that is not addressed to me I keep the newest { $count } messages, for a week at most, so that I know what you mean.
    }
group-keeps-addressed = I keep what is said to me and what I answer, and nothing else.
group-addressing = Reply to me or mention { $bot }, and I answer. /help says more, /memory what I keep, and with /reset an administrator has it all erased.

## Limits (wait = one of the wait-… below)

limit-user-messages =
    { $limit ->
        [one] I may answer you once a minute
       *[other] I may answer you { $limit } times a minute
    }, and that is reached. Please try again in { $wait }.
limit-chat-messages =
    { $limit ->
        [one] I may answer once a minute in this chat
       *[other] I may answer { $limit } times a minute in this chat
    }, and that is reached. Please try again in { $wait }.
limit-user-tokens =
    { $limit ->
        [one] You have used up your { $limit } token of today.
       *[other] You have used up your { $limit } tokens of today.
    } I can answer you again in { $wait }; the day begins at 00:00 UTC.
limit-chat-tokens =
    { $limit ->
        [one] This chat has used up its { $limit } token of today.
       *[other] This chat has used up its { $limit } tokens of today.
    } I can answer here again in { $wait }; the day begins at 00:00 UTC.
limit-user-money = You have used up what may be spent on you in a day ({ NUMBER($limit, maximumFractionDigits: 4) }). I can answer you again in { $wait }; the day begins at 00:00 UTC.
limit-chat-money = This chat has used up what may be spent on it in a day ({ NUMBER($limit, maximumFractionDigits: 4) }). I can answer here again in { $wait }; the day begins at 00:00 UTC.
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

## /usage

stats-contexts = Contexts: { $count }.
stats-queue = In the queue: { $count }, the oldest for { $oldest }.
usage-title = Used today (UTC):
usage-you = You: { $tokens }.
usage-you-money = You: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = This chat: { $tokens }.
usage-chat-money = This chat: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = All chats: { $tokens }.
usage-all-money = All chats: { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }.
usage-limits-none = There are no limits.
usage-limits-you = Limits for each person: { $limits }.
usage-limits-chat = Limits for each chat: { $limits }.
usage-resets = The day's counts begin anew in { $wait }.
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
count-ledger-turns =
    { $count ->
        [one] { $count } tool record
       *[other] { $count } tool records
    }
count-artifacts =
    { $count ->
        [one] { $count } artifact
       *[other] { $count } artifacts
    }
count-heard =
    { $count ->
        [one] { $count } line not said to me
       *[other] { $count } lines not said to me
    }
count-quotes =
    { $count ->
        [one] { $count } quotation
       *[other] { $count } quotations
    }
count-updates =
    { $count ->
        [one] { $count } waiting update
       *[other] { $count } waiting updates
    }
unknown-now = not known

## /memory

memory-nothing = I keep nothing of this chat.
memory-kept = I keep { $messages } of this chat.
memory-kept-since = I keep { $messages } of this chat. Its memory began { $since } UTC.
memory-conversation = In the present conversation: { $count }. Found by search: { $searchable }.
memory-unsearchable = not known: the index does not answer now
memory-beside = Beside them: { $summaries }, { $ledger }, { $artifacts }.
memory-heard = Kept for a short while as context: { $heard }.
memory-agent = The agent { $agent } answers here, to whom this chat was transferred.
memory-erasing = /forget as a reply erases one message; /reset erases all of it.
memory-summary = What came earlier in this conversation, in short:

## /forget and /reset

forget-usage = Reply with /forget to the message that I should forget, yours or mine. Nothing was changed.
not-kept = I do not keep that message, so there is nothing to forget.
forgotten = I have forgotten that message. If another one repeats it, such as an answer of mine, forget that one too.
forgotten-unanswered = I have forgotten that message. I had not remembered it: answering it had failed, and it was only kept to be tried again.
forgotten-unkept = I have forgotten that message. I had not remembered it, but other things here told of it.
forget-interrupted = I was interrupted: more may have been erased beside the message than is counted here.
forget-doubt = Something of it was left. /reset erases all that I keep of this chat.
unknown-chat-id = A chat is named by its number, such as /reset -1001234. Nothing was changed.
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
reset-chat = I have erased the memory of this chat.
reset-topic = I have erased the memory of this topic.
reset-all = I have erased the memory of this chat, all its topics included.
reset-other = I have erased the memory of chat { $chat }.
reset-doubt = Something came in while I was reading back; send /reset again to be sure.
receipt-erased = Erased: { $things }.
receipt-left = Found on reading back: messages { $messages }, search entries { $vectors }, everything else { $others }.
receipt-proven = Both stores were read back afterwards: nothing is left.
receipt-index-away = The search index does not answer now: no search can see its entries any more, and they are erased as soon as it does.

## Files (media): what is said where one cannot be read, and the message has no words to answer

media-unseen = I cannot see pictures: the language model that I work with reads text only. Tell me what is in it, and I will help with that.
media-no-picture = I could not open this picture. Please send it again, as a photo or as a JPEG, PNG, WebP or GIF file.
media-deaf = I cannot listen to recordings: nothing is set up here that writes them down. Please send it as text.
media-unheard = I could not open this recording: it is not in a format that can be listened to. Please record it again, or send it as text.
media-silent = I listened to your recording, but could not make out any words. Please try again a little louder, or send it as text.
media-unavailable = I could not listen to your recording: the service that writes it down does not answer now. Please send it again in a while, or send it as text.
media-too-long = This recording is { $duration } long; I can listen to at most { $limit } minutes. Please send a shorter one.
media-too-large = This file is too large for me: I can read at most { $limit } MB. Please send a smaller one, or the part that matters.
media-gone = Telegram does not give me this file any more. Please send it again.
media-not-fetched = I could not fetch this file from Telegram just now. Please send it again in a moment.
media-moving = I cannot watch videos or animations. Send me a photo of what matters, or tell me about it in words.
media-unknown = I cannot read this kind of file. I can read text, Markdown, CSV, JSON, source code and PDF; please send it as one of these, or copy the text into a message.
media-empty = There is nothing in this file. Please check it, and send it again.
media-pdf-encrypted = This PDF is protected, and I cannot open it. Please send it without a password.
media-pdf-corrupt = I could not open this PDF: the file is damaged, or is not a PDF. Please send it again.
media-pdf-empty = There is no text in this PDF.
media-pdf-scanned = This PDF has only pictures of its pages, and no text that I could read. Please send one with text, or photos of the pages that matter.
media-pdf-too-much = This PDF takes more work to read than I can give it. Please send a smaller one, or the pages that matter.

## D: while an answer is written, and long ones

rest-in-file = The whole answer is in the file { $name } below.
preview-writing = I am writing an answer…
preview-stop = ⏹ Stop
preview-tool = ⚙️ Running the tool { $tool }…

# Buttons

answer-written = That answer is already written.
button-unknown = This button does nothing any more.
stop-not-yours = Only who asked and this group's administrators may stop this answer.
