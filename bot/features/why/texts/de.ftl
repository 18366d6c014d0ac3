help-why = /why — als Antwort auf eine meiner Antworten: zeigen, woraus sie entstanden ist
menu-why = Als Antwort auf eine meiner Antworten: zeigen, woraus sie entstanden ist

count-memories =
    { $count ->
        [one] { $count } Eintrag aus dem Gedächtnis
       *[other] { $count } Einträge aus dem Gedächtnis
    }

count-other-things =
    { $count ->
        [one] { $count } weiterer Eintrag
       *[other] { $count } weitere Einträge
    }

why-title =
    { $which ->
        [last] Daraus ist meine letzte Antwort entstanden:
       *[this] Daraus ist diese Antwort entstanden:
    }

why-memories = Aus dem Gedächtnis:
why-memory = • { $day }, { $writer }: „{ $words }“
why-fact = • { $day }, über { $subject }: „{ $words }“
why-day = { DATETIME($date, dateStyle: "long") }
why-me = ich
why-somebody = jemand

why-origin =
    { $origin ->
        [forwarded] { $writer }, weitergeleitet
        [imported] { $writer }, importiert
        [via_bot] { $writer }, über einen anderen Bot
       *[attached] { $writer }, angehängt
    }

why-more =
    { $count ->
        [one] Und { $count } weitere Nachricht.
       *[other] Und { $count } weitere Nachrichten.
    }

why-forgotten =
    { $count ->
        [one] { $count } Nachricht ist inzwischen vergessen.
       *[other] { $count } Nachrichten sind inzwischen vergessen.
    }

why-facts-forgotten =
    { $count ->
        [one] { $count } Fakt ist inzwischen vergessen.
       *[other] { $count } Fakten sind inzwischen vergessen.
    }

why-nothing-recalled = Aus dem Gedächtnis: nichts.
why-also = Außerdem habe ich gelesen: { $things }.

why-window =
    { $count ->
        [one] die letzte Nachricht unseres Gesprächs
       *[other] die letzten { $count } Nachrichten unseres Gesprächs
    }

why-summary = eine Zusammenfassung unseres früheren Gesprächs

why-standing =
    { $count ->
        [one] ein dauerhafter Wunsch
       *[other] { $count } dauerhafte Wünsche
    }

why-tools = Werkzeuge: { $tools }.
why-tool-failed = { $tool } (fehlgeschlagen)
why-no-room = Weggelassen aus Platzmangel: { $things }.
why-too-old = Weggelassen, weil zu alt: { $things }.
why-tokens = Modell: { $models }. Gelesen: { $read }. Geschrieben: { $written }.
why-cost = Kosten: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = Das ist keine meiner Antworten, oder ich habe sie vergessen. Antworte mit /why auf eine meiner Antworten.
why-none = In diesem Gespräch habe ich noch nichts geantwortet.
why-no-receipt = Zu dieser Antwort habe ich keine Einzelheiten mehr. Ich bewahre sie höchstens 30 Tage auf.
