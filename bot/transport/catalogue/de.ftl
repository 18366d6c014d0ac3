# Texte des Bots auf Deutsch. Jeder Schlüssel steht in der Datei jeder Sprache, mit denselben Variablen.

## /start und /help

help-private = Ich merke mir, was du mir in diesem Chat erzählst. In anderen Chats verwende ich es nie.
help-group = Ich antworte, wenn ihr auf meine Nachrichten antwortet, mich erwähnt oder mir einen Befehl schickt. Was ich in dieser Gruppe erfahre, bleibt hier, und jedes Thema hat sein eigenes Gedächtnis.
help-administrators = Für Administratoren, die mit /forget auch Nachrichten anderer löschen können:
help-operators = Für Betreiber dieses Bots:
help-editing = Wenn du eine Nachricht bearbeitest, merke ich mir stattdessen den neuen Text.

help-operators-reset = /reset -1001234 — alles löschen, was ich aus dem Chat mit dieser ID weiß

## Antworten

nothing-to-show = Die Antwort des Sprachmodells enthielt nichts, was ich anzeigen kann. Bitte frag noch einmal anders.
stopped = Abgebrochen.
stopped-sending = Abgebrochen. Den Rest dieser Antwort schicke ich nicht.
stopped-mark = abgebrochen
cut-length = abgeschnitten: Längenlimit des Modells
cut-filter = vom Filter des Modells abgeschnitten
unreadable = Diese Art von Nachricht kann ich nicht lesen. Bitte schreib sie als Text.
unknown-command = Den Befehl { $name } kenne ich nicht. Mit /help siehst du, was ich kann.

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

## /usage und /stats

usage-title = Heutiger Verbrauch (UTC):
usage-none = Heute wurde noch nichts verbraucht.
usage-you = Du: { $tokens }.
usage-you-money = Du: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Dieser Chat: { $tokens }.
usage-chat-money = Dieser Chat: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Alle Chats: { $tokens }.
usage-all-money = Alle Chats: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
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

## /facts

list-page = Das sind { $first } bis { $last } von { $total }.
list-delete = ❌ { $number }
list-back = ◀️ Zurück
list-more = Mehr ▶️

## /forget und /reset

not-kept = Diese Nachricht habe ich nicht gespeichert, es gibt also nichts zu vergessen.
forgotten = Ich habe diese Nachricht vergessen. Falls eine andere Nachricht sie wiederholt, lass mich auch die vergessen.
forgotten-fact = Ich habe diesen Fakt vergessen. Die Nachrichten, aus denen er stammt, bleiben.
receipt-erased = Gelöscht: { $things }.
receipt-details = Einzelheiten
receipt-still = Ich habe nachgesehen, und das ist noch da: { $things }.
receipt-proven = Ich habe nachgesehen: Es ist nichts mehr da.
receipt-proven-text = Ich habe nachgesehen: Der Text selbst ist gelöscht.
receipt-index-away = Die Suche antwortet gerade nicht, deshalb konnte ich dort nicht nachsehen. Diese Einträge findet sie nicht mehr; gelöscht werden sie, sobald die Suche wieder da ist.
receipt-unclean = Die Protokolldatei der Datenbank behält die alten Wörter, bis der Betreiber dieses Bots sie neu schreiben lässt.
receipt-not-copied = Ich konnte diese Löschung nicht neben der Datenbank vermerken. Falls der Betreiber dieses Bots je eine ältere Sicherung einspielt, bitte noch einmal darum.

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
