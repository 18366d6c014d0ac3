help-forget = /forget — as a reply: erase that message everywhere
menu-forget = As a reply: erase that message everywhere
forget-usage = Reply with /forget to the message I should forget, yours or mine. Nothing was changed.
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
