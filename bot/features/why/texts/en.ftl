help-why = /why — as a reply to an answer: see what it was made of
menu-why = As a reply to an answer: see what it was made of

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
        [imported] { $writer }, imported
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

why-standing =
    { $count ->
        [one] one standing wish
       *[other] { $count } standing wishes
    }

why-tools = Tools: { $tools }.
why-tool-failed = { $tool } (failed)
why-no-room = Left out for lack of room: { $things }.
why-too-old = Left out as too old: { $things }.
why-tokens = Model: { $models }. Read: { $read }. Written: { $written }.
why-cost = Cost: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = That message isn't one of my answers, or I've forgotten it. Reply with /why to one of my answers.
why-none = I haven't answered anything in this conversation yet.
why-no-receipt = I don't have the details of that answer. I keep them for 30 days at most.
