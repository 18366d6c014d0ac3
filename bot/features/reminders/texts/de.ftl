help-reminders = /reminders — die Erinnerungen dieses Chats zeigen und löschen
help-timezone = /timezone — deine Zeitzone zeigen oder ändern, die ich für Erinnerungen brauche
menu-reminders = Die Erinnerungen dieses Chats zeigen und löschen
menu-timezone = Deine Zeitzone zeigen oder ändern
reminder-when = { DATETIME($date, dateStyle: "long") }, { $time }

reminder-when-repeated = { $when } ({ $repeats ->
        [hourly] jede Stunde
        [daily] jeden Tag
        [weekdays] Montag bis Freitag
        [weekly] jede Woche
        [monthly] jeden Monat
        [yearly] jedes Jahr
       *[other] wiederholt
    })

reminder-due = ⏰ { $text }
reminder-due-group = ⏰ { $name }: { $text }
reminder-late = Ich bin spät dran: Fällig war das am { $when }.
reminder-missed = Ich konnte diese Erinnerung nicht rechtzeitig schicken ({ $when }): { $text }
reminders-title = Erinnerungen in diesem Chat:
reminders-line = { $number }. { $when }: { $text }
reminders-line-by = { $number }. { $when }, { $name }: { $text }
reminders-none = In diesem Chat gibt es keine Erinnerungen. Für eine neue schreib zum Beispiel: „Erinnere mich in 20 Minuten ans Blumengießen.“
reminders-buttons = Mit ❌ löschst du eine Erinnerung.
reminders-zone = Die Zeiten gelten in der Zeitzone { $zone }. Mit /timezone änderst du sie.
reminders-cancelled = Gelöscht: „{ $text }“
reminders-gone = Diese Liste ist veraltet: Die Erinnerung wurde inzwischen geschickt oder gelöscht. Hier steht, was noch übrig ist.
reminders-not-yours = Diese Erinnerung können nur die Person, die sie wollte, und die Administratoren dieser Gruppe löschen.
timezone-shown = Deine Zeitzone ist { $zone }, dort ist es jetzt { $time }. Um sie zu ändern, schick zum Beispiel /timezone Berlin. Mit /timezone off vergesse ich sie.
timezone-none = Ich kenne deine Zeitzone nicht. Schick mir eine große Stadt darin, zum Beispiel /timezone Berlin, oder antworte auf diese Nachricht mit deinem Standort.
timezone-set = Deine Zeitzone ist jetzt { $zone }, dort ist es { $time }. Erinnerungen, die schon gestellt sind, behalten ihre Zeit.
timezone-off = Ich habe deine Zeitzone vergessen.
timezone-unknown = Ich kenne die Zeitzone „{ $name }“ nicht und habe nichts geändert. Schick mir eine große Stadt in deiner Zeitzone, zum Beispiel /timezone Berlin, oder deinen Abstand zu UTC, zum Beispiel /timezone UTC+1.
timezone-choose = Welche davon ist deine Zeitzone?
timezone-other = Keine davon
timezone-help = Schick mir eine größere Stadt oder dein Land, zum Beispiel /timezone Berlin, deinen Abstand zu UTC, zum Beispiel /timezone UTC+1, oder die Zeit auf deiner Uhr, zum Beispiel /timezone 14:05.
timezone-fixed = Sie hat keine Sommerzeit. Wenn du im Sommer die Uhr umstellst, tippe auf eine Stadt, in der es jetzt so spät ist wie bei dir:
timezone-meant = Wenn du einen anderen Ort gemeint hast, tippe darauf:
forgotten-reminder = Ich habe diese Erinnerung gelöscht. Die Nachrichten dazu bleiben.
