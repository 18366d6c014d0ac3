help-facts = /facts — see what I know about you, and correct or delete it
menu-facts = See what I know about you, and correct or delete it

facts-title =
    { $place ->
        [group] What I know about you or from you here:
       *[private] What I know from this chat:
    }

facts-standing = Your standing wishes, which I keep in mind in every answer:
facts-imported = { $statement } (imported from { $service })
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (until { DATETIME($date, dateStyle: "long") })

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

facts-correct = ✏️ { $number }
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
