help-voice = /voice — choose when I answer with voice messages
menu-voice = Choose when I answer with voice messages

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
