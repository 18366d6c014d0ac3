help-incognito = /incognito — mit mir reden, ohne dass ich es mir merke; noch einmal schicken beendet es
menu-incognito = Mit mir reden, ohne dass ich es mir merke

incognito-on =
    { $place ->
        [group] 🕶 Inkognito ist an. Was ich schon weiß, nutze ich weiter, aber ich speichere nichts von dem, was hier jetzt geschrieben wird, von niemandem, und auch keine meiner Antworten.
       *[private] 🕶 Inkognito ist an. Was ich schon weiß, nutze ich weiter, aber ich speichere nichts von dem, was du mir jetzt schickst, und auch keine meiner Antworten.
    }

    Deshalb kenne ich auch deine vorige Nachricht nicht mehr. Wenn du zu einer Antwort nachfragen willst, antworte direkt auf sie.

    Es endet mit der Schaltfläche, mit /incognito oder nach einer Stunde ohne Nachrichten.

incognito-off = Inkognito ist aus. Ich habe nichts davon gespeichert; ab jetzt merke ich mir wieder, was du schreibst.
incognito-end = Inkognito beenden
incognito-mark = 🕶 Inkognito
incognito-line = 🕶 Inkognito ist an: Was hier jetzt geschrieben wird, speichere ich nicht.
incognito-why = Zu Antworten im Inkognito-Modus halte ich nichts fest, deshalb kann ich nicht sagen, woraus sie entstanden sind.
