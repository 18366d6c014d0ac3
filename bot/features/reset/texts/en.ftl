help-reset = { $place ->
    [group]
        /reset — erase everything I remember from this group or topic
        /reset all — do the same for all topics of the group
   *[private] /reset — erase everything I remember from this chat
 }

menu-reset = Erase everything I remember from this chat
unknown-chat-id = Please give the ID of the chat, for example /reset -1001234. Nothing was changed.

reset-asks =
    { $scope ->
        [topic] This erases everything I remember from this topic.
        [all] This erases everything I remember from this chat and all its topics.
       *[chat] This erases everything I remember from this chat.
    } You can't undo it. To go ahead, press the button within ten minutes.

reset-button = Erase everything
reset-not-yours = Only the person who sent /reset can press this button.
reset-expired = This button has expired, and nothing was erased. Send /reset again if you still want to erase everything.
reset-nothing = There was nothing to erase.
reset-chat = I've erased everything I remembered from this chat.
reset-topic = I've erased everything I remembered from this topic.
reset-all = I've erased everything I remembered from this chat and all its topics.
reset-other = I've erased everything I remembered from chat { $chat }.
reset-doubt = Something new arrived while I was checking. Send /reset again to be sure.
