help-retention = { $place ->
    [group] /retention — sehen und ändern, wie lange ich Nachrichten dieser Gruppe oder dieses Themas behalte
   *[private] /retention — sehen und ändern, wie lange ich Nachrichten dieses Chats behalte
 }

menu-retention = Wählen, wie lange ich Nachrichten behalte

retention-span =
    { $days ->
        [0] Für immer
        [365] 1 Jahr
        [one] { $days } Tag
       *[other] { $days } Tage
    }

retention-limit = Ich behalte Nachrichten hier { $limit }. Danach lösche ich sie innerhalb eines Tages, samt allem, was auf ihnen beruht.
retention-none = Ich behalte Nachrichten hier, bis du sie löschst.

retention-facts =
    { $facts ->
        [kept] Was ich daraus über euch gelernt habe, bleibt, und Erinnerungen bleiben auch.
       *[gone] Was ich daraus über euch gelernt habe, lösche ich auch; Erinnerungen bleiben.
    }

retention-operator = Der Betreiber dieses Bots erlaubt höchstens { $limit }.

retention-choose =
    { $place ->
        [group] Administratoren können auf eine Auswahl tippen, um das zu ändern.
       *[private] Tippe auf eine Auswahl, um das zu ändern.
    }

retention-facts-button =
    { $facts ->
        [kept] Fakten auch löschen
       *[gone] Fakten behalten
    }

retention-asks =
    { $count ->
        [0] Noch ist hier keine Nachricht älter als { $limit }.
        [one] Damit löschst du { $count } Nachricht, die älter ist als { $limit }, samt allem, was auf ihr beruht.
       *[other] Damit löschst du { $count } Nachrichten, die älter sind als { $limit }, samt allem, was auf ihnen beruht.
    }

retention-asks-facts =
    { $facts ->
        [kept] Die Fakten bleiben.
        [dropped] Auch die Fakten, deren Nachrichten ich schon gelöscht habe, lösche ich.
       *[gone] Auch die Fakten aus älteren Nachrichten lösche ich.
    }

retention-asks-button = Das lässt sich nicht rückgängig machen. Wenn du es willst, tippe innerhalb von zehn Minuten auf den Knopf.
retention-confirm = Löschen, was älter ist als { $limit }
retention-back = Nichts ändern
retention-expired = Dieser Knopf ist abgelaufen, es wurde nichts geändert.
retention-erasing = Ich lösche jetzt, was älter ist. Bei einem langen Verlauf dauert das einige Minuten.
retention-longer = Was ich schon gelöscht habe, kommt nicht zurück.
