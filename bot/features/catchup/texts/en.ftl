help-catchup = /catchup — see what was said since you last wrote; or /catchup 2h, /catchup 10:00, /catchup 50
menu-catchup = See what was said since you last wrote
catchup-private = /catchup is for groups: there I tell you what was said while you were away.
catchup-usage = I didn't understand that. You can send /catchup (since you last wrote), /catchup 2h, /catchup 30m, /catchup 10:00 (your /timezone, else UTC), /catchup yesterday, or /catchup 50 (the last 50 messages).
catchup-yesterday = yesterday
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } { $zone }

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
