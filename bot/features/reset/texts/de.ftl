help-reset = { $place ->
    [group]
        /reset — alles löschen, was ich aus dieser Gruppe oder diesem Thema weiß
        /reset all — dasselbe für alle Themen der Gruppe
   *[private] /reset — alles löschen, was ich aus diesem Chat weiß
 }

menu-reset = Alles löschen, was ich aus diesem Chat weiß
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
