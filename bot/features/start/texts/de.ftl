start-private =
    Hallo! Ich bin ein Assistent, der sich merkt, was du ihm erzählst.
    Erzähl mir etwas und frag mich später danach.

start-group =
    Hallo! Ich bin ein Assistent, der sich an diese Gruppe erinnert.
    Antwortet auf meine Nachrichten oder erwähnt mich, dann antworte ich.

start-erasing = Was hier gesagt wird, bleibt in diesem Chat, und /reset löscht es.
start-offline = Gerade steht kein Sprachmodell hinter mir, deshalb kann ich nicht frei plaudern. Aber ich merke mir, was du mir erzählst, und zitiere es, wenn du danach fragst.
start-offline-operator = Für Betreiber: Setz OPENAI_API_KEY, dann gibt es richtige Antworten.
start-button = Was kannst du?

start-page =
    Mit dem Knopf öffnest du das Gedächtnis deiner Gruppe. { $viewers ->
        [members] Nur ihre Mitglieder können es sehen.
       *[administrators] Nur ihre Administratoren können es sehen.
    }

start-page-off = Die Gedächtnisseite für Gruppen ist ausgeschaltet, deshalb kann ich sie nicht öffnen.
help-help = /help — diesen Text zeigen
menu-help = Was ich kann
invitation-accepted = Willkommen! Deine Einladung wurde angenommen, du kannst jetzt mit mir schreiben.
invitation-invalid = Diese Einladung ist ungültig: Sie ist unbekannt, schon benutzt oder abgelaufen. Bitte frag die Person, die dich eingeladen hat, nach einem neuen Link.
invitation-later = Du hast zu viele ungültige Einladungen ausprobiert. Bitte warte eine Stunde bis zum nächsten Versuch.
