help-forget = /forget — as a reply: erase that message everywhere; /forget me: what you said, here in a group, everywhere in our private chat
menu-forget = As a reply: erase that message everywhere
forget-usage = Reply with /forget to the message I should forget, yours or mine. Nothing was changed. /forget me erases what you said.
forgotten-several = I've forgotten those messages. If another message repeats them, make me forget that one too.
forgotten-unanswered = I've forgotten that message. I couldn't answer it, and only kept it for another try.
forgotten-unkept = I've forgotten that message. I didn't remember it itself, but I've erased other things here that mentioned it.
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

forget-me-asks =
    { $scope ->
        [here] This erases what you said here, what I concluded from it, your reminders, and my answers to you, which repeat your words. Other people's own words stay.
       *[everywhere] This erases what you said in all chats with me, what I concluded from it, your reminders, and my answers to you, which repeat your words. Other people's own words stay.
    }

forget-me-found = I found:
forget-me-nothing = I found no messages of yours; I'll look through everything again.
forget-me-more = … and { $count } more chats
forget-me-undo = You can't undo it. To go ahead, press the button within ten minutes.
forget-me-button = Forget me
forget-me-begun = I'm forgetting what you said. What you write from now on is new and stays. I'll send you a signed receipt when I'm done.
forget-me-done = What you said is erased; this file is your receipt, and the operator of this bot can check it with “mnemogram verify”.
forget-me-not-yours = Only the person who sent /forget me can press this button.
forget-me-expired = This button has expired, and nothing was erased. Send /forget me again if you still want it.
forget-me-anonymous = You're writing as a group or channel, so I don't know who you are. Nothing was changed.
