help-voice = /voice — wählen, wann ich mit Sprachnachrichten antworte
menu-voice = Wählen, wann ich mit Sprachnachrichten antworte

voice-current =
    { $choice ->
        [never] Ich antworte hier mit Text.
        [when_spoken_to] Auf Sprachnachrichten antworte ich hier mit Sprachnachrichten, auf Text mit Text.
       *[always] Ich antworte hier mit Sprachnachrichten; der Text steht darunter.
    }

voice-choose =
    { $place ->
        [group] Administratoren können auf eine Auswahl tippen, um das zu ändern.
       *[private] Tippe auf eine Auswahl, um das zu ändern.
    }

voice-label =
    { $choice ->
        [never] Nie
        [when_spoken_to] Auf Sprachnachrichten
       *[always] Immer
    }

voice-none = Ich kann nicht sprechen, weil dieser Bot kein Modell für Sprachausgabe hat. Ich antworte mit Text.
