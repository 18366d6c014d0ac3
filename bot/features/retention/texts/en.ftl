help-retention = { $place ->
    [group] /retention — see how long I keep the messages of this group or topic, and change it
   *[private] /retention — see how long I keep the messages of this chat, and change it
 }

menu-retention = Choose how long I keep messages

retention-span =
    { $days ->
        [0] For ever
        [365] 1 year
        [one] { $days } day
       *[other] { $days } days
    }

retention-limit = I keep messages here for { $limit }. Within a day after that I erase them, with everything that rests on them.
retention-none = I keep messages here until you erase them.

retention-facts =
    { $facts ->
        [kept] Facts that I learned from them stay, and so do reminders.
       *[gone] Facts that I learned from them go too; reminders stay.
    }

retention-operator = The operator of this bot allows { $limit } at most.

retention-choose =
    { $place ->
        [group] Administrators can tap a choice to change that.
       *[private] Tap a choice to change that.
    }

retention-facts-button =
    { $facts ->
        [kept] Let facts go too
       *[gone] Keep facts
    }

retention-asks =
    { $count ->
        [0] No message here is older than { $limit } yet.
        [one] This erases { $count } message that is older than { $limit }, with everything that rests on it.
       *[other] This erases { $count } messages that are older than { $limit }, with everything that rests on them.
    }

retention-asks-facts =
    { $facts ->
        [kept] Facts stay.
        [dropped] Facts whose messages I have erased before go too.
       *[gone] Facts from older messages go too.
    }

retention-asks-button = You can't undo it. To go ahead, press the button within ten minutes.
retention-confirm = Erase what is older than { $limit }
retention-back = Change nothing
retention-expired = This button has expired, and nothing was changed.
retention-erasing = I'm erasing what is older now. With a long history this takes a few minutes.
retention-longer = What I have erased before doesn't come back.
