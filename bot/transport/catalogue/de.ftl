# Texte des Bots auf Deutsch. Jeder Schlüssel steht in der Datei jeder Sprache, mit denselben Variablen.

## /start und /help

start-private =
    Hallo! Ich bin ein Assistent, der sich merkt, was du ihm erzählst.
    Erzähl mir etwas und frag mich später danach.
start-group =
    Hallo! Ich bin ein Assistent, der sich an diese Gruppe erinnert.
    Antwortet auf meine Nachrichten oder erwähnt mich, dann antworte ich.
start-erasing = Was hier gesagt wird, bleibt in diesem Chat, und /reset löscht es.
start-offline = Ich laufe mit dem Offline-Modell, einem kleinen Ersatz für ein Sprachmodell. Für richtige Antworten musst du OPENAI_API_KEY setzen.
start-button = Was kannst du?
help-private =
    Ich merke mir, was du mir in diesem Chat erzählst. In anderen Chats verwende ich es nie.

    /new — ein neues Gespräch beginnen; die alten kann ich weiter durchsuchen
    /memory — zeigen, was ich aus diesem Chat noch weiß
    /forget — als Antwort auf eine Nachricht: sie überall löschen
    /reset — alles löschen, was ich aus diesem Chat weiß
    /stop — die Antwort abbrechen, die ich gerade schreibe
    /usage — den heutigen Verbrauch und die Limits zeigen
    /help — diesen Text zeigen

    Wenn du eine Nachricht bearbeitest, merke ich mir stattdessen den neuen Text.
help-group =
    Ich antworte, wenn ihr auf meine Nachrichten antwortet, mich erwähnt oder mir einen Befehl schickt. Was ich in dieser Gruppe erfahre, bleibt hier, und jedes Thema hat sein eigenes Gedächtnis.

    /memory — zeigen, was ich aus dieser Gruppe oder diesem Thema noch weiß
    /forget — als Antwort auf eine Nachricht: sie überall löschen
    /stop — die Antwort abbrechen, die ich gerade schreibe
    /usage — den heutigen Verbrauch und die Limits zeigen
    /help — diesen Text zeigen

    Für Administratoren, die mit /forget auch Nachrichten anderer löschen können:
    /new — ein neues Gespräch beginnen; die alten kann ich weiter durchsuchen
    /reset — alles löschen, was ich aus dieser Gruppe oder diesem Thema weiß
    /reset all — dasselbe für alle Themen der Gruppe

    Wenn du eine Nachricht bearbeitest, merke ich mir stattdessen den neuen Text.
help-operator =
    Für Betreiber dieses Bots:
    /stats — die Zahl der Chats, die Warteschlange und den heutigen Verbrauch zeigen
    /reset -1001234 — alles löschen, was ich aus dem Chat mit dieser ID weiß

## Das Menü der Befehle (höchstens 256 Zeichen)

menu-help = Was ich kann
menu-new = Ein neues Gespräch beginnen; Älteres bleibt auffindbar
menu-memory = Was ich von diesem Chat aufbewahre
menu-forget = Als Antwort: diese Nachricht löschen
menu-reset = Löschen, was ich von diesem Chat aufbewahre
menu-stop = Die Antwort anhalten, die ich gerade schreibe
menu-usage = Heutiger Verbrauch und Grenzen
menu-stats = Für Betreiber: Kontexte, Warteschlange, Verbrauch

## Antworten

nothing-to-show = Die Antwort des Sprachmodells enthält nichts, was sich zeigen lässt. Bitte frag noch einmal anders.
stopped = Angehalten.
stopped-mark = angehalten
nothing-to-stop = Es gibt nichts anzuhalten: Ich schreibe gerade keine Antwort.
unreadable = Was in dieser Art von Nachricht steht, kann ich nicht sehen. Bitte sag es mir in Worten.
unknown-command = Den Befehl { $name } kenne ich nicht. /help zeigt dir alle, die ich kenne.
new-conversation = Ein neues Gespräch. Was vorher gesagt wurde, habe ich noch im Gedächtnis und kann es durchsuchen.

## Was schiefging

buried = Meine Antwort auf eine frühere Nachricht konnte ich nicht fertigstellen: Bei jedem Versuch ging etwas schief. Sie liegt für den Betreiber bereit, und ich mache mit der nächsten weiter.
buried-edit = Du hast eine Nachricht bearbeitet, und ich konnte nicht übernehmen, was jetzt darin steht: Bei jedem Versuch ging etwas schief. Sie liegt für den Betreiber bereit. /forget als Antwort löscht die Nachricht.
failure-model-unavailable = Das Sprachmodell ist gerade nicht erreichbar. Deine Nachricht habe ich mir gemerkt; bitte frag in einer Weile noch einmal.
failure-model-quota = Das Guthaben für das Sprachmodell ist aufgebraucht. Ich kann erst wieder antworten, wenn der Betreiber sich darum gekümmert hat.
failure-model-refused = Das Sprachmodell hat meine Anfrage nicht angenommen, deshalb kann ich nicht antworten. Den Grund sieht der Betreiber im Protokoll.
failure-prompt-too-long = Das war mehr, als das Sprachmodell auf einmal lesen kann. Bitte schick es in kleineren Teilen.
failure-model-silent = Das Sprachmodell hat zweimal eine leere Antwort gegeben. Bitte frag anders oder versuch es noch einmal.
failure-deadline = Das hat zu lange gedauert, deshalb habe ich aufgehört. Bitte versuch es noch einmal, vielleicht mit einer kleineren Frage.
failure-other = Etwas ging schief, und ich konnte nicht antworten. Bitte versuch es noch einmal.

## Wer was darf

refused = Es tut mir leid, in diesem Chat darf ich nicht sprechen. Von dem, was du geschrieben hast, wurde nichts aufbewahrt.
administrators-only = Das dürfen nur die Administratoren dieser Gruppe. Es wurde nichts geändert.
operators-only = Das dürfen nur die Betreiber dieses Bots. Es wurde nichts geändert.
cannot-check = Ich konnte bei Telegram nicht nachsehen, wer diese Gruppe verwaltet, deshalb wurde nichts geändert. Bitte versuch es noch einmal.
others-message = Du kannst hier deine eigenen Nachrichten vergessen lassen. Die von anderen und meine Antworten nur die Administratoren dieser Gruppe. Es wurde nichts geändert.
invitation-accepted = Willkommen! Deine Einladung gilt, ab jetzt antworte ich dir.
invitation-invalid = Diese Einladung ist unbekannt, schon benutzt oder abgelaufen. Bitte lass dir von dem, der dich eingeladen hat, einen neuen Link geben.
invitation-later = Du hast zu viele Einladungen versucht, die ich nicht kenne. Bitte warte eine Stunde bis zur nächsten.

## Gruppen

group-joined = Hallo! Ich bin ein Assistent, der sich an diese Gruppe erinnert, und was ich von ihr weiß, verwende ich in keinem anderen Chat.
group-promoted = Ich bin jetzt Administrator hier und sehe mehr als vorher.
group-sees-all = Ich sehe hier jede Nachricht und antworte nur, wenn ich angesprochen werde.
group-sees-addressed = Ich sehe nur, was für mich bestimmt ist: Antworten an mich, Erwähnungen von { $bot } und Befehle. Damit ich auch dem Gespräch folgen kann, macht mich zum Administrator, oder mein Besitzer schaltet meinen Privatsphäre-Modus aus (/setprivacy bei @BotFather) und fügt mich der Gruppe neu hinzu.
group-keeps-talk =
    { $count ->
        [one] Von dem, was nicht an mich gerichtet ist, behalte ich die neueste Nachricht, höchstens eine Woche lang, damit ich weiß, was ihr meint.
       *[other] Von dem, was nicht an mich gerichtet ist, behalte ich die neuesten { $count } Nachrichten, höchstens eine Woche lang, damit ich weiß, was ihr meint.
    }
group-keeps-addressed = Ich bewahre auf, was ihr mir sagt und was ich antworte, und sonst nichts.
group-addressing = Antwortet mir oder erwähnt { $bot }, dann antworte ich. /help sagt mehr, /memory, was ich aufbewahre, und mit /reset lässt ein Administrator alles löschen.

## Grenzen (wait = eines der wait-… unten)

limit-user-messages =
    { $limit ->
        [one] Ich darf dir einmal in der Minute antworten
       *[other] Ich darf dir { $limit }-mal in der Minute antworten
    }, und das ist erreicht. Bitte versuch es in { $wait } noch einmal.
limit-chat-messages =
    { $limit ->
        [one] Ich darf in diesem Chat einmal in der Minute antworten
       *[other] Ich darf in diesem Chat { $limit }-mal in der Minute antworten
    }, und das ist erreicht. Bitte versuch es in { $wait } noch einmal.
limit-user-tokens =
    { $limit ->
        [one] Du hast dein { $limit } Token für heute verbraucht.
       *[other] Du hast deine { $limit } Tokens für heute verbraucht.
    } In { $wait } kann ich dir wieder antworten; der Tag beginnt um 00:00 UTC.
limit-chat-tokens =
    { $limit ->
        [one] Dieser Chat hat sein { $limit } Token für heute verbraucht.
       *[other] Dieser Chat hat seine { $limit } Tokens für heute verbraucht.
    } In { $wait } kann ich hier wieder antworten; der Tag beginnt um 00:00 UTC.
limit-user-money = Was an einem Tag für dich ausgegeben werden darf ({ NUMBER($limit, maximumFractionDigits: 4) }), ist verbraucht. In { $wait } kann ich dir wieder antworten; der Tag beginnt um 00:00 UTC.
limit-chat-money = Was an einem Tag für diesen Chat ausgegeben werden darf ({ NUMBER($limit, maximumFractionDigits: 4) }), ist verbraucht. In { $wait } kann ich hier wieder antworten; der Tag beginnt um 00:00 UTC.
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

## /usage

stats-contexts = Kontexte: { $count }.
stats-queue = In der Warteschlange: { $count }, das Älteste wartet seit { $oldest }.
usage-title = Heute verbraucht (UTC):
usage-you = Du: { $tokens }.
usage-you-money = Du: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Dieser Chat: { $tokens }.
usage-chat-money = Dieser Chat: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Alle Chats: { $tokens }.
usage-all-money = Alle Chats: { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }.
usage-limits-none = Es gibt keine Grenzen.
usage-limits-you = Grenzen für jede Person: { $limits }.
usage-limits-chat = Grenzen für jeden Chat: { $limits }.
usage-resets = In { $wait } beginnt die Zählung des Tages von vorn.
usage-tokens =
    { $count ->
        [one] { $count } Token
       *[other] { $count } Tokens
    }
usage-limit-messages =
    { $count ->
        [one] { $count } Nachricht in der Minute
       *[other] { $count } Nachrichten in der Minute
    }
usage-limit-tokens =
    { $count ->
        [one] { $count } Token am Tag
       *[other] { $count } Tokens am Tag
    }
usage-limit-money = Kosten { NUMBER($money, maximumFractionDigits: 4) } am Tag

## Mengen, immer nach einem Doppelpunkt oder in einer Aufzählung

list-separator = {", "}
count-messages =
    { $count ->
        [one] { $count } Nachricht
       *[other] { $count } Nachrichten
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
count-ledger-turns =
    { $count ->
        [one] { $count } Werkzeugprotokoll
       *[other] { $count } Werkzeugprotokolle
    }
count-artifacts =
    { $count ->
        [one] { $count } Artefakt
       *[other] { $count } Artefakte
    }
count-heard =
    { $count ->
        [one] { $count } nicht an mich gerichtete Zeile
       *[other] { $count } nicht an mich gerichtete Zeilen
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
unknown-now = unbekannt

## /memory

memory-nothing = Von diesem Chat bewahre ich nichts auf.
memory-kept = Von diesem Chat bewahre ich auf: { $messages }.
memory-kept-since = Von diesem Chat bewahre ich auf: { $messages }. Sein Gedächtnis begann am { $since } UTC.
memory-conversation = Im jetzigen Gespräch: { $count }. Durch Suche auffindbar: { $searchable }.
memory-unsearchable = unbekannt, der Index antwortet gerade nicht
memory-beside = Daneben: { $summaries }, { $ledger }, { $artifacts }.
memory-heard = Für kurze Zeit als Zusammenhang aufbewahrt: { $heard }.
memory-agent = Hier antwortet der Agent { $agent }, an den dieser Chat übergeben wurde.
memory-erasing = /forget als Antwort löscht eine Nachricht, /reset alles.
memory-summary = Was in diesem Gespräch vorher war, in Kürze:

## /forget und /reset

forget-usage = Antworte mit /forget auf die Nachricht, die ich vergessen soll, deine oder meine. Es wurde nichts geändert.
not-kept = Diese Nachricht bewahre ich nicht auf, es gibt also nichts zu vergessen.
forgotten = Ich habe diese Nachricht vergessen. Wenn eine andere sie wiederholt, etwa eine Antwort von mir, lass auch die vergessen.
forgotten-unanswered = Ich habe diese Nachricht vergessen. Gemerkt hatte ich sie mir nicht: Die Antwort war gescheitert, und sie war nur für einen neuen Versuch aufbewahrt.
forgotten-unkept = Ich habe diese Nachricht vergessen. Gemerkt hatte ich sie mir nicht, aber anderes hier gab sie wieder.
forget-interrupted = Ich wurde unterbrochen: Neben der Nachricht kann mehr gelöscht worden sein, als hier gezählt ist.
forget-doubt = Etwas davon ist übrig geblieben. /reset löscht alles, was ich von diesem Chat aufbewahre.
unknown-chat-id = Ein Chat wird mit seiner Nummer genannt, etwa /reset -1001234. Es wurde nichts geändert.
reset-asks =
    { $scope ->
        [topic] Damit löschst du alles, was ich aus diesem Thema weiß.
        [all] Damit löschst du alles, was ich aus diesem Chat und all seinen Themen weiß.
       *[chat] Damit löschst du alles, was ich aus diesem Chat weiß.
    } Das lässt sich nicht rückgängig machen. Wenn du es wirklich willst, drück innerhalb von zehn Minuten auf den Knopf.
reset-button = Alles löschen
reset-not-yours = Diesen Knopf kann nur drücken, wer /reset geschickt hat.
reset-expired = Dieser Knopf ist abgelaufen, es wurde nichts gelöscht. Schick noch einmal /reset, wenn du weiterhin alles löschen willst.
reset-nothing = Es gab nichts zu löschen.
reset-chat = Ich habe das Gedächtnis dieses Chats gelöscht.
reset-topic = Ich habe das Gedächtnis dieses Themas gelöscht.
reset-all = Ich habe das Gedächtnis dieses Chats mit allen seinen Themen gelöscht.
reset-other = Ich habe das Gedächtnis des Chats { $chat } gelöscht.
reset-doubt = Während ich nachgesehen habe, kam etwas herein; schick /reset noch einmal, um sicherzugehen.
receipt-erased = Gelöscht: { $things }.
receipt-left = Beim Nachsehen gefunden: Nachrichten { $messages }, Sucheinträge { $vectors }, alles andere { $others }.
receipt-proven = Danach wurde in beiden Speichern nachgesehen: Es ist nichts übrig.
receipt-index-away = Der Suchindex antwortet gerade nicht: Keine Suche sieht seine Einträge mehr, und sie werden gelöscht, sobald er antwortet.

## Dateien: was gesagt wird, wenn eine nicht zu lesen ist und die Nachricht keine Worte hat

media-unseen = Ich kann keine Bilder sehen: Das Sprachmodell, mit dem ich arbeite, liest nur Text. Sag mir, was darauf ist, dann helfe ich dir damit.
media-no-picture = Dieses Bild konnte ich nicht öffnen. Bitte schick es noch einmal, als Foto oder als JPEG-, PNG-, WebP- oder GIF-Datei.
media-deaf = Ich kann keine Aufnahmen anhören: Hier ist nichts eingerichtet, das sie aufschreibt. Bitte schick es als Text.
media-unheard = Diese Aufnahme konnte ich nicht öffnen: Ihr Format lässt sich nicht anhören. Bitte nimm sie neu auf oder schick es als Text.
media-silent = Ich habe deine Aufnahme angehört, aber kein Wort verstanden. Bitte versuch es etwas lauter oder schick es als Text.
media-unavailable = Ich konnte deine Aufnahme nicht anhören: Der Dienst, der sie aufschreibt, antwortet gerade nicht. Bitte schick sie in einer Weile noch einmal oder schick es als Text.
media-too-long = Diese Aufnahme dauert { $duration }; ich kann höchstens { $limit } Minuten anhören. Bitte schick eine kürzere.
media-too-large = Diese Datei ist mir zu groß: Ich kann höchstens { $limit } MB lesen. Bitte schick eine kleinere oder den Teil, auf den es ankommt.
media-gone = Telegram gibt mir diese Datei nicht mehr. Bitte schick sie noch einmal.
media-not-fetched = Ich konnte diese Datei gerade nicht von Telegram holen. Bitte schick sie gleich noch einmal.
media-moving = Videos und Animationen kann ich nicht ansehen. Schick mir ein Foto von dem, worauf es ankommt, oder erzähl es mir in Worten.
media-unknown = Diese Art von Datei kann ich nicht lesen. Ich lese Text, Markdown, CSV, JSON, Quelltext und PDF; bitte schick sie so oder kopiere den Text in eine Nachricht.
media-empty = In dieser Datei ist nichts. Bitte prüf sie und schick sie noch einmal.
media-pdf-encrypted = Dieses PDF ist geschützt, und ich kann es nicht öffnen. Bitte schick es ohne Passwort.
media-pdf-corrupt = Dieses PDF konnte ich nicht öffnen: Die Datei ist beschädigt oder kein PDF. Bitte schick sie noch einmal.
media-pdf-empty = In diesem PDF ist kein Text.
media-pdf-scanned = Dieses PDF hat nur Bilder seiner Seiten und keinen Text, den ich lesen könnte. Bitte schick eines mit Text oder Fotos der Seiten, auf die es ankommt.
media-pdf-too-much = Dieses PDF zu lesen macht mehr Arbeit, als ich dafür aufwenden kann. Bitte schick ein kleineres oder die Seiten, auf die es ankommt.

## Während eine Antwort geschrieben wird, und lange

rest-in-file = Die ganze Antwort steht unten in der Datei { $name }.
preview-writing = Ich schreibe eine Antwort…
preview-stop = ⏹ Anhalten
preview-tool = ⚙️ Ich benutze das Werkzeug { $tool }…

# Knöpfe

answer-written = Diese Antwort ist schon geschrieben.
button-unknown = Dieser Knopf bewirkt nichts mehr.
stop-not-yours = Diese Antwort anhalten können nur die Person, die gefragt hat, und die Administratoren der Gruppe.
