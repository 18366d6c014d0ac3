help-facts = /facts — zeigen, was ich über dich weiß, und es löschen oder korrigieren
menu-facts = Zeigen, was ich über dich weiß, und es löschen oder korrigieren

facts-title =
    { $place ->
        [group] Was ich hier über dich oder von dir weiß:
       *[private] Was ich aus diesem Chat weiß:
    }

facts-standing = Deine Wünsche, die ich bei jeder Antwort beachte:
facts-imported = { $statement } (importiert aus { $service })
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (bis zum { DATETIME($date, dateStyle: "long") })

facts-none =
    { $place ->
        [group] Ich habe mir hier noch keine Fakten über dich oder von dir gemerkt.
       *[private] Ich habe mir aus diesem Chat noch keine Fakten gemerkt.
    }

facts-buttons = Mit ❌ löschst du einen Fakt, mit ✏️ korrigierst du ihn. /facts off löscht alle, und ich merke mir keine neuen mehr.

facts-unread =
    { $count ->
        [one] Ich lese noch { $count } Nachricht. Wenn ich fertig bin, aktualisiert sich diese Liste von selbst.
       *[other] Ich lese noch { $count } Nachrichten. Wenn ich fertig bin, aktualisiert sich diese Liste von selbst.
    }

facts-correct = ✏️ { $number }
facts-cancel = Abbrechen
facts-ask = Was ist richtig statt „{ $statement }“? Antworte innerhalb einer Stunde auf diese Nachricht.
facts-noted = Notiert: „{ $statement }“
facts-too-long = Bitte schreib es in einem Satz mit höchstens { $limit } Zeichen, wieder als Antwort auf meine Frage. Es wurde nichts geändert.
fact-deleted = Ich habe diesen Fakt vergessen. Die Nachricht, aus der er stammt, bleibt: Um sie zu löschen, antworte mit /forget darauf.
facts-outdated = Diese Liste ist veraltet: Der Fakt wurde inzwischen geändert oder gelöscht. Hier steht, was ich jetzt weiß.
facts-not-yours = Diese Knöpfe sind nur für die Person, die /facts geschickt hat, und für die Administratoren dieser Gruppe.
facts-usage = Schick /facts, um zu sehen, was ich über dich weiß. Mit /facts off lösche ich es und merke mir nichts mehr, mit /facts on fange ich wieder damit an. In Gruppen ist /facts off all für Administratoren und gilt für alle.
facts-unavailable = Ich merke mir hier keine Fakten: Der Betreiber dieses Bots hat das ausgeschaltet, oder es gibt kein Modell dafür.
facts-are-off-private = In diesem Chat merke ich mir keine Fakten. Schick /facts on, wenn du das möchtest.
facts-are-off-group = Hier merke ich mir keine Fakten. Administratoren können das mit /facts on ändern.
facts-are-off-person = Über dich merke ich mir hier keine Fakten. Schick /facts on, wenn du das möchtest.
facts-on-private = Ab jetzt merke ich mir Fakten aus dem, was du mir in diesem Chat schreibst. /facts zeigt sie.
facts-on-group = Ab jetzt merke ich mir hier Fakten aus dem, was ihr mir schreibt. Mit /facts sehen alle ihre eigenen, und mit /facts off kann jeder es für sich ablehnen.
facts-on-person = Ab jetzt merke ich mir hier Fakten über dich aus dem, was du mir schreibst. /facts zeigt sie.
facts-already-on = Ich merke mir hier schon Fakten, auch über dich. /facts zeigt sie.
facts-off-private = Ich merke mir in diesem Chat keine Fakten mehr und habe alle gelöscht, die ich hatte.
facts-off-group = Ich merke mir hier keine Fakten mehr und habe alle gelöscht, die ich hatte.
facts-off-person = Ich merke mir hier keine Fakten mehr über dich oder von dir und habe alle gelöscht, die ich hatte.
