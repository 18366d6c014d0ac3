help-memory = { $place ->
    [group] /memory — ver o que lembro deste grupo ou tópico
   *[private] /memory — ver o que lembro deste chat
 }

menu-memory = Ver o que lembro deste chat
memory-nothing = Não me lembro de nada deste chat.

memory-messages =
    { $count ->
        [0] Não me lembro de nenhuma mensagem deste chat.
        [one] Eu me lembro de { $count } mensagem deste chat, desde { DATETIME($since, dateStyle: "long") }.
       *[other] Eu me lembro de { $count } mensagens deste chat, desde { DATETIME($since, dateStyle: "long") }.
    }

memory-conversation =
    { $count ->
        [one] { $count } delas é da nossa conversa atual.
       *[other] { $count } delas são da nossa conversa atual.
    }

memory-searchable =
    { $count ->
        [one] Posso pesquisar em { $count } delas.
       *[other] Posso pesquisar em { $count } delas.
    }

memory-searchable-all =
    { $count ->
        [1] Posso pesquisar nela.
       *[other] Posso pesquisar em todas.
    }

memory-unsearchable = Não consigo pesquisar nelas agora.
memory-also = Também guardo: { $things }.
memory-talk = Para acompanhar a conversa, também guardo por pouco tempo: { $things }.
memory-agent = O agente { $agent } assumiu este chat e responde aqui.
memory-erasing = Para apagar uma mensagem, responda a ela com /forget. Para apagar tudo, envie /reset.
memory-summary = Um resumo da nossa conversa anterior:
memory-open = Abrir a memória
