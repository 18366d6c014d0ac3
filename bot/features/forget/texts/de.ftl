help-forget = /forget — als Antwort auf eine Nachricht: sie überall löschen; /forget me: was du gesagt hast, in einer Gruppe nur hier, in unserem privaten Chat überall
menu-forget = Als Antwort: diese Nachricht überall löschen
forget-usage = Antworte mit /forget auf die Nachricht, die ich vergessen soll, deine oder meine. Es wurde nichts geändert. /forget me löscht, was du gesagt hast.
forgotten-several = Ich habe diese Nachrichten vergessen. Falls eine andere Nachricht sie wiederholt, lass mich auch die vergessen.
forgotten-unanswered = Ich habe diese Nachricht vergessen. Ich konnte sie nicht beantworten und hatte sie nur für einen neuen Versuch gespeichert.
forgotten-unkept = Ich habe diese Nachricht vergessen. Sie selbst hatte ich nicht gespeichert, aber ich habe hier anderes gelöscht, das sie erwähnte.
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

forget-me-asks =
    { $scope ->
        [here] Das löscht, was du hier gesagt hast, was ich daraus geschlossen habe, deine Erinnerungen und meine Antworten an dich, denn sie wiederholen deine Worte. Was andere selbst geschrieben haben, bleibt.
       *[everywhere] Das löscht, was du in allen Chats mit mir gesagt hast, was ich daraus geschlossen habe, deine Erinnerungen und meine Antworten an dich, denn sie wiederholen deine Worte. Was andere selbst geschrieben haben, bleibt.
    }

forget-me-found = Gefunden habe ich:
forget-me-nothing = Ich habe keine Nachrichten von dir gefunden; ich sehe alles noch einmal durch.
forget-me-more = … und { $count } weitere Chats
forget-me-undo = Das lässt sich nicht rückgängig machen. Wenn du es willst, drück innerhalb von zehn Minuten den Knopf.
forget-me-button = Vergiss mich
forget-me-begun = Ich vergesse, was du gesagt hast. Was du ab jetzt schreibst, ist neu und bleibt. Wenn ich fertig bin, schicke ich dir eine signierte Quittung.
forget-me-done = Was du gesagt hast, ist gelöscht; diese Datei ist deine Quittung, und der Betreiber dieses Bots kann sie mit „mnemogram verify“ prüfen.
forget-me-not-yours = Diesen Knopf kann nur drücken, wer /forget me geschickt hat.
forget-me-expired = Dieser Knopf ist abgelaufen, es wurde nichts gelöscht. Schick noch einmal /forget me, wenn du es weiterhin willst.
forget-me-anonymous = Du schreibst als Gruppe oder Kanal, deshalb weiß ich nicht, wer du bist. Es wurde nichts geändert.
