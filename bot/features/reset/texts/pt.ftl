help-reset = { $place ->
    [group]
        /reset — apagar tudo o que lembro deste grupo ou tópico
        /reset all — o mesmo para todos os tópicos do grupo
   *[private] /reset — apagar tudo o que lembro deste chat
 }

menu-reset = Apagar tudo o que lembro deste chat
unknown-chat-id = Indique o ID do chat, por exemplo /reset -1001234. Nada foi alterado.

reset-asks =
    { $scope ->
        [topic] Isso apaga tudo o que lembro deste tópico.
        [all] Isso apaga tudo o que lembro deste chat e de todos os seus tópicos.
       *[chat] Isso apaga tudo o que lembro deste chat.
    } Não dá para desfazer. Para continuar, toque no botão em até dez minutos.

reset-button = Apagar tudo
reset-not-yours = Só quem enviou /reset pode tocar neste botão.
reset-expired = Este botão expirou, e nada foi apagado. Envie /reset de novo se ainda quiser apagar tudo.
reset-nothing = Não havia nada para apagar.
reset-chat = Apaguei tudo o que lembrava deste chat.
reset-topic = Apaguei tudo o que lembrava deste tópico.
reset-all = Apaguei tudo o que lembrava deste chat e de todos os seus tópicos.
reset-other = Apaguei tudo o que lembrava do chat { $chat }.
reset-doubt = Chegou algo novo enquanto eu verificava. Envie /reset de novo para ter certeza.
