# Texte des Bots auf Deutsch. Jeder Schlüssel steht in der Datei jeder Sprache, mit denselben Variablen.

## /start und /help

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
help-private = Ich merke mir, was du mir in diesem Chat erzählst. In anderen Chats verwende ich es nie.
help-group = Ich antworte, wenn ihr auf meine Nachrichten antwortet, mich erwähnt oder mir einen Befehl schickt. Was ich in dieser Gruppe erfahre, bleibt hier, und jedes Thema hat sein eigenes Gedächtnis.
help-administrators = Für Administratoren, die mit /forget auch Nachrichten anderer löschen können:
help-operators = Für Betreiber dieses Bots:
help-editing = Wenn du eine Nachricht bearbeitest, merke ich mir stattdessen den neuen Text.

help-new = /new — ein neues Gespräch beginnen; die alten kann ich weiter durchsuchen
help-catchup = /catchup — zeigen, was gesagt wurde, seit du zuletzt geschrieben hast; oder /catchup 2h, /catchup 10:00, /catchup 50
help-memory = { $place ->
    [group] /memory — zeigen, was ich aus dieser Gruppe oder diesem Thema noch weiß
   *[private] /memory — zeigen, was ich aus diesem Chat noch weiß
 }
help-facts = /facts — zeigen, was ich über dich weiß, und es löschen oder korrigieren
help-reminders = /reminders — die Erinnerungen dieses Chats zeigen und löschen
help-timezone = /timezone — deine Zeitzone zeigen oder ändern, die ich für Erinnerungen brauche
help-why = /why — als Antwort auf eine meiner Antworten: zeigen, woraus sie entstanden ist
help-forget = /forget — als Antwort auf eine Nachricht: sie überall löschen
help-reset = { $place ->
    [group]
        /reset — alles löschen, was ich aus dieser Gruppe oder diesem Thema weiß
        /reset all — dasselbe für alle Themen der Gruppe
   *[private] /reset — alles löschen, was ich aus diesem Chat weiß
 }
help-stop = /stop — die Antwort abbrechen, die ich gerade schreibe
help-model = /model — zeigen, welches Modell hier antwortet, und ein anderes wählen
help-voice = /voice — wählen, wann ich mit Sprachnachrichten antworte
help-usage = /usage — den heutigen Verbrauch und die Limits zeigen
help-help = /help — diesen Text zeigen
help-stats = /stats — die Zahl der Chats, die Warteschlange und den heutigen Verbrauch zeigen; /stats month: der Verbrauch eines Monats
help-operators-reset = /reset -1001234 — alles löschen, was ich aus dem Chat mit dieser ID weiß

## Menü der Befehle (höchstens 256 Zeichen)

menu-help = Was ich kann
menu-new = Ein neues Gespräch beginnen; die alten bleiben durchsuchbar
menu-catchup = Zeigen, was gesagt wurde, seit du zuletzt geschrieben hast
menu-memory = Zeigen, was ich aus diesem Chat weiß
menu-facts = Zeigen, was ich über dich weiß, und es löschen oder korrigieren
menu-reminders = Die Erinnerungen dieses Chats zeigen und löschen
menu-timezone = Deine Zeitzone zeigen oder ändern
menu-why = Als Antwort auf eine meiner Antworten: zeigen, woraus sie entstanden ist
menu-forget = Als Antwort: diese Nachricht überall löschen
menu-reset = Alles löschen, was ich aus diesem Chat weiß
menu-stop = Die Antwort abbrechen, die ich gerade schreibe
menu-model = Zeigen, welches Modell hier antwortet, und ein anderes wählen
menu-voice = Wählen, wann ich mit Sprachnachrichten antworte
menu-usage = Heutiger Verbrauch und Limits
menu-stats = Für Betreiber: Chats, Warteschlange und Verbrauch

## Antworten

nothing-to-show = Die Antwort des Sprachmodells enthielt nichts, was ich anzeigen kann. Bitte frag noch einmal anders.
stopped = Abgebrochen.
stopped-sending = Abgebrochen. Den Rest dieser Antwort schicke ich nicht.
stopped-mark = abgebrochen
cut-length = abgeschnitten: Längenlimit des Modells
cut-filter = vom Filter des Modells abgeschnitten
nothing-to-stop = Es gibt nichts abzubrechen: Ich schreibe gerade keine Antwort.
unreadable = Diese Art von Nachricht kann ich nicht lesen. Bitte schreib sie als Text.
unknown-command = Den Befehl { $name } kenne ich nicht. Mit /help siehst du, was ich kann.
new-conversation = Wir haben ein neues Gespräch begonnen. An die früheren erinnere ich mich weiterhin und kann sie durchsuchen.

## Fehler

buried = Auf eine frühere Nachricht konnte ich nicht antworten, obwohl ich es mehrmals versucht habe. Ich habe sie für den Betreiber beiseitegelegt und mache mit der nächsten weiter.
buried-edit = Du hast eine Nachricht bearbeitet, aber ich konnte den neuen Text nicht speichern, obwohl ich es mehrmals versucht habe. Ich habe sie für den Betreiber beiseitegelegt. Antworte mit /forget auf die Nachricht, um sie zu löschen.
failure-model-unavailable = Ich kann das Sprachmodell gerade nicht erreichen. Deine Nachricht habe ich gespeichert; bitte frag in ein paar Minuten noch einmal.
failure-model-quota = Das Guthaben für das Sprachmodell ist aufgebraucht. Ich kann erst wieder antworten, wenn der Betreiber sich darum gekümmert hat.
failure-model-refused = Das Sprachmodell hat meine Anfrage abgelehnt, deshalb kann ich nicht antworten. Den Grund findet der Betreiber im Log.
failure-model-filtered = Der Inhaltsfilter des Sprachmodells hat das abgelehnt, deshalb kann ich nicht antworten. Bitte sag es mit anderen Worten.
quoted-words = „{ $text }“
refused-messages =
    { $count ->
        [one] Der Filter des Sprachmodells hat deine Nachricht { $messages } abgelehnt, deshalb habe ich sie aus unserem Gespräch herausgenommen. Bitte sag es mit anderen Worten. Wenn du die Nachricht bearbeitest, verwende ich sie wieder.
       *[other] Der Filter des Sprachmodells hat deine Nachrichten { $messages } abgelehnt, deshalb habe ich sie aus unserem Gespräch herausgenommen. Bitte sag es mit anderen Worten. Wenn du eine Nachricht bearbeitest, verwende ich sie wieder.
    }
# The answer ends with this if something else than the question was refused.
left-out =
    { $what ->
        [quote] Ich habe ohne die Nachricht geantwortet, auf die du dich beziehst, weil der Filter des Sprachmodells sie abgelehnt hat.
        [talk] Ich habe ohne die letzten Gespräche dieser Gruppe geantwortet, weil der Filter des Sprachmodells sie abgelehnt hat.
        [memories] Einige ältere Nachrichten habe ich weggelassen, weil der Filter des Sprachmodells sie abgelehnt hat. Ich verwende sie nicht mehr für Antworten.
       *[conversation] Was wir vorher gesagt hatten, habe ich weggelassen, weil der Filter des Sprachmodells es abgelehnt hat. Wir haben ein neues Gespräch begonnen; das frühere kann ich weiterhin durchsuchen.
    }
failure-prompt-too-long = Das ist mehr, als das Sprachmodell auf einmal lesen kann. Bitte schick es in kleineren Teilen.
failure-model-silent = Das Sprachmodell hat zweimal eine leere Antwort geliefert. Bitte frag anders oder versuch es noch einmal.
failure-deadline = Das hat zu lange gedauert, deshalb habe ich abgebrochen. Bitte versuch es noch einmal, vielleicht mit einer einfacheren Frage.
failure-other = Etwas ist schiefgegangen, und ich konnte nicht antworten. Bitte versuch es noch einmal.

## Berechtigungen

refused = Tut mir leid, in diesem Chat darf ich nicht antworten. Von dem, was du geschrieben hast, habe ich nichts gespeichert.
administrators-only = Das können nur die Administratoren dieser Gruppe. Es wurde nichts geändert.
operators-only = Das können nur die Betreiber dieses Bots. Es wurde nichts geändert.
cannot-check = Ich konnte bei Telegram nicht nachsehen, wer diese Gruppe verwaltet, deshalb wurde nichts geändert. Bitte versuch es noch einmal.
others-message = Du kannst mich hier nur deine eigenen Nachrichten vergessen lassen. Administratoren können das auch bei den Nachrichten anderer und bei meinen Antworten. Es wurde nichts geändert.
invitation-accepted = Willkommen! Deine Einladung wurde angenommen, du kannst jetzt mit mir schreiben.
invitation-invalid = Diese Einladung ist ungültig: Sie ist unbekannt, schon benutzt oder abgelaufen. Bitte frag die Person, die dich eingeladen hat, nach einem neuen Link.
invitation-later = Du hast zu viele ungültige Einladungen ausprobiert. Bitte warte eine Stunde bis zum nächsten Versuch.

## Gruppen

group-joined = Hallo! Ich bin ein Assistent, der sich an diese Gruppe erinnert. Was ich hier erfahre, bleibt hier.
group-promoted = Ich bin jetzt Administrator hier und sehe mehr als vorher.
group-sees-all = Ich sehe hier alle Nachrichten, antworte aber nur, wenn ihr mich ansprecht.
group-sees-addressed = Ich sehe nur, was für mich bestimmt ist: Antworten auf meine Nachrichten, Erwähnungen von { $bot } und Befehle. Wenn ich auch dem Gespräch folgen soll, macht mich zum Administrator. Oder bittet meinen Besitzer, meinen Privatsphäre-Modus auszuschalten (/setprivacy bei @BotFather) und mich neu zur Gruppe hinzuzufügen.
group-keeps-talk =
    { $count ->
        [one] Damit ich weiß, worum es geht, merke ich mir auch die letzte Nachricht, die nicht für mich bestimmt ist, höchstens eine Woche lang.
       *[other] Damit ich weiß, worum es geht, merke ich mir auch die letzten { $count } Nachrichten, die nicht für mich bestimmt sind, höchstens eine Woche lang.
    }
group-keeps-addressed = Ich speichere nur, was ihr mir sagt und was ich antworte.
group-addressing = Antwortet auf meine Nachrichten oder erwähnt { $bot }, dann antworte ich. /help zeigt, was ich kann, und /memory, was ich weiß. Administratoren können mit /reset alles löschen.

## Limits (wait = eines der wait-… unten)

limit-user-messages =
    { $limit ->
        [one] Ich kann dir einmal pro Minute antworten
       *[other] Ich kann dir { $limit }-mal pro Minute antworten
    }, und dieses Limit ist erreicht. Bitte versuch es in { $wait } noch einmal.
limit-chat-messages =
    { $limit ->
        [one] Ich kann in diesem Chat einmal pro Minute antworten
       *[other] Ich kann in diesem Chat { $limit }-mal pro Minute antworten
    }, und dieses Limit ist erreicht. Bitte versuch es in { $wait } noch einmal.
limit-user-tokens =
    { $limit ->
        [one] Du hast dein { $limit } Token für heute verbraucht.
       *[other] Du hast deine { $limit } Tokens für heute verbraucht.
    } In { $wait } kann ich dir wieder antworten, dann beginnt der neue Tag (00:00 UTC).
limit-chat-tokens =
    { $limit ->
        [one] Dieser Chat hat sein { $limit } Token für heute verbraucht.
       *[other] Dieser Chat hat seine { $limit } Tokens für heute verbraucht.
    } In { $wait } kann ich hier wieder antworten, dann beginnt der neue Tag (00:00 UTC).
limit-user-money = Du hast dein Ausgabenlimit für heute erreicht ({ NUMBER($limit, maximumFractionDigits: 4) }). In { $wait } kann ich dir wieder antworten, dann beginnt der neue Tag (00:00 UTC).
limit-chat-money = Dieser Chat hat sein Ausgabenlimit für heute erreicht ({ NUMBER($limit, maximumFractionDigits: 4) }). In { $wait } kann ich hier wieder antworten, dann beginnt der neue Tag (00:00 UTC).
limit-all-money = Das Budget für diesen Monat ist aufgebraucht, deshalb kann ich gerade nicht antworten. Am { DATETIME($date, dateStyle: "long") } (00:00 UTC) bin ich wieder da.
budget-warning = { $percent } % des Budgets für diesen Monat sind verbraucht: { NUMBER($money, maximumFractionDigits: 4) } von { NUMBER($limit, maximumFractionDigits: 4) }. Ist alles verbraucht, antworte ich bis zum { DATETIME($date, dateStyle: "long") } (00:00 UTC) nur noch Betreibern. Mit /stats month siehst du die Kosten.
budget-used-up = Das Budget für diesen Monat ist aufgebraucht: { NUMBER($money, maximumFractionDigits: 4) } von { NUMBER($limit, maximumFractionDigits: 4) }. Bis zum { DATETIME($date, dateStyle: "long") } (00:00 UTC) antworte ich nur noch Betreibern. Mit /stats month siehst du die Kosten.
wait-seconds =
    { $count ->
        [one] { $count } Sekunde
       *[other] { $count } Sekunden
    }
wait-minutes =
    { $count ->
        [one] { $count } Minute
       *[other] { $count } Minuten
    }
wait-hours =
    { $count ->
        [one] { $count } Stunde
       *[other] { $count } Stunden
    }

## /model

model-current = Meine Antworten kommen hier von { $model }.
model-choose =
    { $place ->
        [group] Administratoren können auf ein Modell tippen, um das zu ändern.
       *[private] Tippe auf ein Modell, um das zu ändern.
    }
model-unknown = Ich habe kein Modell namens { $model }. Mit /model siehst du, welche du wählen kannst.
# The answer of a turn whose model is gone ends with this.
model-missing = { $model } ist nicht verfügbar, deshalb hat { $other } geantwortet.

# /voice
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

## /usage und /stats

stats-contexts = Chats und Themen: { $count }.
stats-queue =
    { $count ->
        [0] Die Warteschlange ist leer.
       *[other] In der Warteschlange: { $count }. Der älteste Eintrag wartet seit { $oldest }.
    }
usage-title = Heutiger Verbrauch (UTC):
usage-none = Heute wurde noch nichts verbraucht.
usage-you = Du: { $tokens }.
usage-you-money = Du: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Dieser Chat: { $tokens }.
usage-chat-money = Dieser Chat: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Alle Chats: { $tokens }.
usage-all-money = Alle Chats: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
costs-title = Verbrauch im Monat { $month } (UTC):
costs-none = Im Monat { $month } (UTC) wurde nichts verbraucht.
costs-used = { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = Davon für Zusammenfassungen und Fakten: { $used }.
costs-budget = Budget pro Monat: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = Personen mit dem höchsten Verbrauch:
costs-chats = Chats mit dem höchsten Verbrauch:
costs-line = { $number }. { $name }: { $used }
costs-in-private = Schick mir diesen Befehl privat, um Personen und Chats zu sehen.
costs-usage = Schick /stats month für diesen Monat oder /stats month { $month } für einen früheren. Ich hebe die Zahlen 13 Monate auf.
usage-limits-none = Es gibt keine Limits.
usage-limits-you = Limits pro Person: { $limits }.
usage-limits-chat = Limits pro Chat: { $limits }.
usage-resets = In { $wait } beginnt die Zählung von vorn.
usage-tokens =
    { $count ->
        [one] { $count } Token
       *[other] { $count } Tokens
    }
usage-limit-messages =
    { $count ->
        [one] { $count } Nachricht pro Minute
       *[other] { $count } Nachrichten pro Minute
    }
usage-limit-tokens =
    { $count ->
        [one] { $count } Token pro Tag
       *[other] { $count } Tokens pro Tag
    }
usage-limit-money = Kosten { NUMBER($money, maximumFractionDigits: 4) } pro Tag

## Mengen, immer nach einem Doppelpunkt oder in einer Aufzählung

list-separator = {", "}
count-messages =
    { $count ->
        [one] { $count } Nachricht
       *[other] { $count } Nachrichten
    }
count-facts =
    { $count ->
        [one] { $count } Fakt
       *[other] { $count } Fakten
    }
count-reminders =
    { $count ->
        [one] { $count } Erinnerung
       *[other] { $count } Erinnerungen
    }
count-vectors =
    { $count ->
        [one] { $count } Sucheintrag
       *[other] { $count } Sucheinträge
    }
count-summaries =
    { $count ->
        [one] { $count } Zusammenfassung
       *[other] { $count } Zusammenfassungen
    }
count-tool-notes =
    { $count ->
        [one] { $count } Notiz zu benutzten Werkzeugen
       *[other] { $count } Notizen zu benutzten Werkzeugen
    }
count-results =
    { $count ->
        [one] { $count } gespeichertes Dokument oder Ergebnis
       *[other] { $count } gespeicherte Dokumente oder Ergebnisse
    }
count-talk =
    { $count ->
        [one] { $count } Nachricht, die nicht für mich bestimmt war
       *[other] { $count } Nachrichten, die nicht für mich bestimmt waren
    }
count-quotes =
    { $count ->
        [one] { $count } Zitat
       *[other] { $count } Zitate
    }
count-updates =
    { $count ->
        [one] { $count } wartende Nachricht
       *[other] { $count } wartende Nachrichten
    }
count-unsent =
    { $count ->
        [one] { $count } noch nicht gesendete Nachricht
       *[other] { $count } noch nicht gesendete Nachrichten
    }

## /memory

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

## /catchup (when = ein Datum und eine Uhrzeit in UTC)

catchup-private = /catchup ist für Gruppen: Dort erzähle ich dir, was gesagt wurde, während du weg warst.
catchup-usage = Das habe ich nicht verstanden. Du kannst /catchup schicken (seit du zuletzt geschrieben hast), /catchup 2h, /catchup 30m, /catchup 10:00 (UTC), /catchup gestern oder /catchup 50 (die letzten 50 Nachrichten).
catchup-yesterday = gestern
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } UTC
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

## /facts

facts-title =
    { $place ->
        [group] Was ich hier über dich oder von dir weiß:
       *[private] Was ich aus diesem Chat weiß:
    }
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (bis zum { DATETIME($date, dateStyle: "long") })
list-page = Das sind { $first } bis { $last } von { $total }.
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
list-delete = ❌ { $number }
facts-correct = ✏️ { $number }
list-back = ◀️ Zurück
list-more = Mehr ▶️
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

## /reminders und /timezone

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

## /why

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
why-tools = Werkzeuge: { $tools }.
why-tool-failed = { $tool } (fehlgeschlagen)
why-no-room = Weggelassen aus Platzmangel: { $things }.
why-too-old = Weggelassen, weil zu alt: { $things }.
why-tokens = Modell: { $models }. Gelesen: { $read }. Geschrieben: { $written }.
why-cost = Kosten: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = Das ist keine meiner Antworten, oder ich habe sie vergessen. Antworte mit /why auf eine meiner Antworten.
why-none = In diesem Gespräch habe ich noch nichts geantwortet.
why-no-receipt = Zu dieser Antwort habe ich keine Einzelheiten mehr. Ich bewahre sie höchstens 30 Tage auf.

## /forget und /reset

forget-usage = Antworte mit /forget auf die Nachricht, die ich vergessen soll, deine oder meine. Es wurde nichts geändert.
not-kept = Diese Nachricht habe ich nicht gespeichert, es gibt also nichts zu vergessen.
forgotten = Ich habe diese Nachricht vergessen. Falls eine andere Nachricht sie wiederholt, lass mich auch die vergessen.
forgotten-several = Ich habe diese Nachrichten vergessen. Falls eine andere Nachricht sie wiederholt, lass mich auch die vergessen.
forgotten-unanswered = Ich habe diese Nachricht vergessen. Ich konnte sie nicht beantworten und hatte sie nur für einen neuen Versuch gespeichert.
forgotten-unkept = Ich habe diese Nachricht vergessen. Sie selbst hatte ich nicht gespeichert, aber ich habe hier anderes gelöscht, das sie erwähnte.
forgotten-fact = Ich habe diesen Fakt vergessen. Die Nachrichten, aus denen er stammt, bleiben.
forgotten-reminder = Ich habe diese Erinnerung gelöscht. Die Nachrichten dazu bleiben.
forget-interrupted = Ich wurde unterbrochen, deshalb habe ich vielleicht mehr gelöscht, als hier steht.
forget-doubt = Um alles zu löschen, was ich aus diesem Chat weiß, schick /reset.
forget-used =
    { $count ->
        [one] { $count } meiner Antworten hat sie verwendet und wiederholt sie vielleicht.
       *[other] { $count } meiner Antworten haben sie verwendet und wiederholen sie vielleicht.
    }
forget-used-several =
    { $count ->
        [one] { $count } meiner Antworten hat sie verwendet und wiederholt sie vielleicht.
       *[other] { $count } meiner Antworten haben sie verwendet und wiederholen sie vielleicht.
    }
forget-rests = Das gilt auch für das, was darauf beruht: { $things }.
forget-answers-button = Auch diese vergessen
unknown-chat-id = Bitte gib die ID des Chats an, zum Beispiel /reset -1001234. Es wurde nichts geändert.
reset-asks =
    { $scope ->
        [topic] Damit löschst du alles, was ich aus diesem Thema weiß.
        [all] Damit löschst du alles, was ich aus diesem Chat und all seinen Themen weiß.
       *[chat] Damit löschst du alles, was ich aus diesem Chat weiß.
    } Das lässt sich nicht rückgängig machen. Wenn du es wirklich willst, tippe innerhalb von zehn Minuten auf den Knopf.
reset-button = Alles löschen
reset-not-yours = Diesen Knopf kann nur drücken, wer /reset geschickt hat.
reset-expired = Dieser Knopf ist abgelaufen, es wurde nichts gelöscht. Schick noch einmal /reset, wenn du weiterhin alles löschen willst.
reset-nothing = Es gab nichts zu löschen.
reset-chat = Ich habe alles gelöscht, was ich aus diesem Chat wusste.
reset-topic = Ich habe alles gelöscht, was ich aus diesem Thema wusste.
reset-all = Ich habe alles gelöscht, was ich aus diesem Chat und all seinen Themen wusste.
reset-other = Ich habe alles gelöscht, was ich aus dem Chat { $chat } wusste.
reset-doubt = Während der Prüfung kam etwas Neues an. Schick zur Sicherheit noch einmal /reset.
receipt-erased = Gelöscht: { $things }.
receipt-details = Einzelheiten
receipt-still = Ich habe nachgesehen, und das ist noch da: { $things }.
receipt-proven = Ich habe nachgesehen: Es ist nichts mehr da.
receipt-proven-text = Ich habe nachgesehen: Der Text selbst ist gelöscht.
receipt-index-away = Die Suche antwortet gerade nicht, deshalb konnte ich dort nicht nachsehen. Diese Einträge findet sie nicht mehr; gelöscht werden sie, sobald die Suche wieder da ist.
receipt-unclean = Die Protokolldatei der Datenbank behält die alten Wörter, bis der Betreiber dieses Bots sie neu schreiben lässt.

## Dateien, die sich in Nachrichten ohne Text nicht lesen lassen

media-unseen = Ich kann keine Bilder sehen: Mein Sprachmodell liest nur Text. Beschreib mir, was darauf ist, dann helfe ich dir damit.
media-no-picture = Ich konnte dieses Bild nicht öffnen. Bitte schick es noch einmal als Foto oder als JPEG-, PNG-, WebP- oder GIF-Datei.
media-deaf = Ich kann keine Aufnahmen anhören, weil hier keine Spracherkennung eingerichtet ist. Bitte schick es als Text.
media-unheard = Ich konnte diese Aufnahme nicht öffnen, weil ich ihr Format nicht abspielen kann. Bitte nimm sie noch einmal auf oder schick es als Text.
media-silent = Ich habe mir deine Aufnahme angehört, aber keine Wörter verstanden. Bitte versuch es etwas lauter oder schick es als Text.
media-unavailable = Ich konnte deine Aufnahme nicht anhören, weil die Spracherkennung gerade nicht antwortet. Bitte schick sie später noch einmal oder als Text.
media-too-long = Diese Aufnahme ist { $duration } lang, und ich kann höchstens { $limit } Minuten anhören. Bitte schick eine kürzere.
media-too-large = Diese Datei ist zu groß für mich: Ich kann höchstens { $limit } MB lesen. Bitte schick eine kleinere oder nur den wichtigen Teil.
media-gone = Telegram gibt mir diese Datei nicht mehr. Bitte schick sie noch einmal.
media-not-fetched = Ich konnte diese Datei gerade nicht von Telegram laden. Bitte schick sie gleich noch einmal.
media-moving = Ich kann keine Videos oder Animationen ansehen. Schick mir ein Foto von dem, was wichtig ist, oder beschreib es in Worten.
media-unknown = Diese Art von Datei kann ich nicht lesen. Ich lese Text, Markdown, CSV, JSON, Quellcode und PDF. Bitte schick sie in einem dieser Formate oder kopier den Text in eine Nachricht.
media-empty = Diese Datei ist leer. Bitte prüf sie und schick sie noch einmal.
media-encoding = Ich kann nicht erkennen, in welcher Kodierung dieser Text gespeichert ist. Bitte speichere ihn als UTF-8 und schick ihn noch einmal, oder kopier den Text in eine Nachricht.
media-pdf-encrypted = Dieses PDF ist geschützt, und ich kann es nicht öffnen. Bitte schick es ohne Passwort.
media-pdf-corrupt = Ich konnte dieses PDF nicht öffnen: Die Datei ist beschädigt oder kein PDF. Bitte schick sie noch einmal.
media-pdf-empty = In diesem PDF ist kein Text.
media-pdf-scanned = Dieses PDF enthält nur Bilder seiner Seiten und keinen Text, den ich lesen kann. Bitte schick ein PDF mit Text oder Fotos der wichtigen Seiten.
media-pdf-too-much = Dieses PDF ist zu umfangreich für mich. Bitte schick ein kleineres oder nur die wichtigen Seiten.

## Vorschau und lange Antworten

rest-in-file = Die ganze Antwort steht unten in der Datei { $name }.
rest-not-shown = Die Antwort geht noch weiter, aber in diesem Chat kann ich keine Dateien schicken. Frag mich nach dem Teil, den du brauchst.
whole-in-file = Die ganze Antwort steht in dieser Datei, damit deine nächste Nachricht nicht warten muss.
file-not-sent = Die Datei { $name } konnte ich nicht senden. Bitte mich, sie noch einmal zu erstellen.
preview-writing = Ich schreibe eine Antwort…
preview-stop = ⏹ Stopp
preview-tool = ⚙️ Ich benutze das Werkzeug { $tool }…
inline-ask = { $bot } fragen
inline-open = Bot öffnen
inline-erased = Mein Gedächtnis wurde gelöscht, bevor ich antworten konnte. Bitte frag noch einmal.
inline-cut = Die Antwort ist länger als eine Nachricht. Frag mich in unserem privaten Chat, dann bekommst du sie ganz.

## Knöpfe

answer-written = Diese Antwort ist schon fertig.
button-unknown = Dieser Knopf funktioniert nicht mehr.
button-gone = Ich kann nicht mehr erkennen, zu welchem Thema diese Nachricht gehört, und habe nichts geändert. Schick bitte { $command } in diesem Thema.
stop-not-yours = Diese Antwort können nur die Person, die gefragt hat, und die Administratoren dieser Gruppe abbrechen.
