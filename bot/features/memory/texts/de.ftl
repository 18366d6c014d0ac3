help-memory = { $place ->
    [group] /memory — zeigen, was ich aus dieser Gruppe oder diesem Thema noch weiß
   *[private] /memory — zeigen, was ich aus diesem Chat noch weiß
 }

menu-memory = Zeigen, was ich aus diesem Chat weiß
memory-nothing = Aus diesem Chat habe ich nichts gespeichert.

memory-messages =
    { $count ->
        [0] Aus diesem Chat habe ich keine Nachrichten gespeichert.
        [one] Ich erinnere mich an { $count } Nachricht aus diesem Chat, seit dem { DATETIME($since, dateStyle: "long") }.
       *[other] Ich erinnere mich an { $count } Nachrichten aus diesem Chat, seit dem { DATETIME($since, dateStyle: "long") }.
    }

memory-conversation =
    { $count ->
        [one] { $count } davon gehört zu unserem aktuellen Gespräch.
       *[other] { $count } davon gehören zu unserem aktuellen Gespräch.
    }

memory-searchable =
    { $count ->
        [one] { $count } davon kann ich durchsuchen.
       *[other] { $count } davon kann ich durchsuchen.
    }

memory-searchable-all =
    { $count ->
        [1] Ich kann sie durchsuchen.
       *[other] Ich kann alle durchsuchen.
    }

memory-unsearchable = Durchsuchen kann ich sie gerade nicht.
memory-also = Außerdem habe ich gespeichert: { $things }.
memory-talk = Um dem Gespräch zu folgen, merke ich mir außerdem für kurze Zeit: { $things }.
memory-agent = Der Agent { $agent } hat diesen Chat übernommen und antwortet hier.
memory-erasing = Um eine Nachricht zu löschen, antworte mit /forget auf sie. Um alles zu löschen, schick /reset.
memory-summary = Eine Zusammenfassung unseres bisherigen Gesprächs:
memory-open = Gedächtnis öffnen
