help-import = /import — deinen Verlauf aus Telegram, ChatGPT oder Claude mitbringen
menu-import = Verlauf aus Telegram, ChatGPT oder Claude mitbringen
import-private = Verläufe importiere ich nur in unserem privaten Chat. Schick mir die Datei dort.

import-how =
    Schick mir den Verlauf als Datei: result.json aus Telegram Desktop oder conversations.json aus ChatGPT oder Claude. Sie darf auch in einem Zip liegen, bis { $limit } MB.

    Jede Nachricht behält Datum und Verfasser und kommt unter das, was wir hier geschrieben haben.

import-offer =
    { $count ->
        [one] Das ist ein Verlauf aus { $service } mit { $count } Nachricht. Soll ich ihn in mein Gedächtnis dieses Chats übernehmen?
       *[other] Das ist ein Verlauf aus { $service } mit { $count } Nachrichten. Soll ich ihn in mein Gedächtnis dieses Chats übernehmen?
    }

import-button =
    { $count ->
        [one] { $count } Nachricht importieren
       *[other] { $count } Nachrichten importieren
    }

import-progress = Ich importiere: { $done } von { $count }. Mit /stop brichst du ab.

import-done =
    { $count ->
        [0] Diesen Verlauf aus { $service } kannte ich schon ganz.
        [one] Ich habe { $count } Nachricht aus { $service } importiert und kann sie gleich durchsuchen.
       *[other] Ich habe { $count } Nachrichten aus { $service } importiert und kann sie gleich durchsuchen.
    }

import-known =
    { $count ->
        [one] { $count } Nachricht war schon da.
       *[other] { $count } Nachrichten waren schon da.
    }

import-stays-forgotten =
    { $count ->
        [one] { $count } Nachricht wurde hier früher vergessen und bleibt vergessen.
       *[other] { $count } Nachrichten wurden hier früher vergessen und bleiben vergessen.
    }

import-all-forgotten = Ich habe nichts importiert: Dieser Verlauf aus { $service } wurde hier früher vergessen, und was vergessen ist, kommt nicht zurück.

import-line = • { $service }, { DATETIME($date, dateStyle: "long") }: { $count }
import-forget-button = Diesen Import vergessen: { $service }, { $count }
import-forgotten = Ich habe diesen Import vergessen.
import-cancelled = Ich habe den Import abgebrochen und nichts davon behalten.
import-paused = Der Import ist noch nicht fertig. Drück den Knopf, dann mache ich dort weiter.
import-gone = Ich bekomme diese Datei nicht mehr. Bitte schick sie noch einmal.
import-too-large = Telegram gibt mir nur Dateien bis { $limit } MB, und diese ist größer. Wenn es ein Verlauf ist, schick mir nur seine JSON-Datei als Zip, oder exportiere einen kürzeren Zeitraum.
import-own = Das ist ein Export aus meinem eigenen Gedächtnis. Er kommt nur als Ganzes in einen leeren Chat zurück: Wer mich betreibt, kann das mit { $command } tun.
import-unknown = In diesem Zip kenne ich keinen Verlauf. Importieren kann ich result.json aus Telegram Desktop und conversations.json aus ChatGPT oder Claude.
import-bad = Diesen Verlauf kann ich nicht lesen: Die Datei ist beschädigt, geschützt oder ausgepackt viel zu groß. Es wurde nichts importiert. Bitte exportiere ihn noch einmal.
import-empty = Dieser Verlauf aus { $service } hat keine Nachrichten.

import-cut =
    { $count ->
        [one] Diese Datei bricht nach { $count } Nachricht ab. Es wurde nichts importiert. Bitte exportiere den Verlauf noch einmal.
       *[other] Diese Datei bricht nach { $count } Nachrichten ab. Es wurde nichts importiert. Bitte exportiere den Verlauf noch einmal.
    }
