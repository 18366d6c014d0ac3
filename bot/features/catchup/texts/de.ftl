help-catchup = /catchup — zeigen, was gesagt wurde, seit du zuletzt geschrieben hast; oder /catchup 2h, /catchup 10:00, /catchup 50
menu-catchup = Zeigen, was gesagt wurde, seit du zuletzt geschrieben hast
catchup-private = /catchup ist für Gruppen: Dort erzähle ich dir, was gesagt wurde, während du weg warst.
catchup-usage = Das habe ich nicht verstanden. Du kannst /catchup schicken (seit du zuletzt geschrieben hast), /catchup 2h, /catchup 30m, /catchup 10:00 (deine /timezone, sonst UTC), /catchup gestern oder /catchup 50 (die letzten 50 Nachrichten).
catchup-yesterday = gestern
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } { $zone }

catchup-own-title =
    { $count ->
        [one] Das wurde gesagt, seit du zuletzt geschrieben hast ({ $when }), { $count } Nachricht:
       *[other] Das wurde gesagt, seit du zuletzt geschrieben hast ({ $when }), { $count } Nachrichten:
    }

catchup-new-title =
    { $count ->
        [one] Ich weiß nicht, wann du hier zuletzt geschrieben hast. Das habe ich seit dem { $when } gehört, { $count } Nachricht:
       *[other] Ich weiß nicht, wann du hier zuletzt geschrieben hast. Das habe ich seit dem { $when } gehört, { $count } Nachrichten:
    }

catchup-since-title =
    { $count ->
        [one] Das wurde seit dem { $when } gesagt, { $count } Nachricht:
       *[other] Das wurde seit dem { $when } gesagt, { $count } Nachrichten:
    }

catchup-last-title =
    { $count ->
        [one] Die letzte Nachricht, vom { $when }:
       *[other] Die letzten { $count } Nachrichten, seit dem { $when }:
    }

catchup-cut =
    { $count ->
        [one] Es gab mehr, aber ich kann nur die letzte Nachricht auf einmal lesen.
       *[other] Es gab mehr, aber ich kann nur die letzten { $count } Nachrichten auf einmal lesen.
    }

catchup-point = • { $text } ({ $when })
catchup-point-by = • { $text } ({ $when }, { $name })
catchup-little = Nichts Wichtiges, nur Geplauder.
catchup-own-nothing = Du hast nichts verpasst: Seit du zuletzt geschrieben hast ({ $when }), habe ich hier nichts gehört.
catchup-since-nothing = Seit dem { $when } habe ich hier nichts gehört.
catchup-nothing = Ich habe hier noch nichts gehört.
catchup-deaf = Ich höre nur, was für mich bestimmt ist, außer ich bin hier Administrator oder mein Besitzer schaltet meinen Privatsphäre-Modus aus.
catchup-failed = Ich erreiche das Sprachmodell gerade nicht. Bitte schick /catchup in ein paar Minuten noch einmal.
catchup-unusable = Mit der Antwort des Sprachmodells konnte ich nichts anfangen. Bitte schick /catchup noch einmal.
catchup-too-much = Das war zu viel auf einmal. Bitte frag nach weniger, zum Beispiel mit /catchup 50.
catchup-changed = Während ich las, wurden Nachrichten geändert oder gelöscht. Bitte schick /catchup noch einmal.
