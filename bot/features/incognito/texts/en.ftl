help-incognito = /incognito — talk without being remembered; send it again to end it
menu-incognito = Talk without being remembered

incognito-on =
    { $place ->
        [group] 🕶 Incognito is on. I still use what I remember from before, but I keep nothing that is said here now, by anybody, and none of my answers.
       *[private] 🕶 Incognito is on. I still use what I remember from before, but I keep nothing that you send me now, and none of my answers.
    }

    That means I can't look back at your last message either. To ask more about an answer, reply to it.

    It ends with the button, with /incognito, or after an hour without messages.

incognito-off = Incognito is off. I kept nothing of it, and from now on I remember again.
incognito-end = End incognito
incognito-mark = 🕶 Incognito
incognito-line = 🕶 Incognito is on: I keep nothing that is said here now.
incognito-why = I keep no record of answers in incognito, so I can't say what they were made of.
