help-catchup = /catchup — ver o que foi dito desde que você escreveu pela última vez; ou /catchup 2h, /catchup 10:00, /catchup 50
menu-catchup = Ver o que foi dito desde que você escreveu pela última vez
catchup-private = /catchup é para grupos: lá eu conto o que foi dito enquanto você estava fora.
catchup-usage = Não entendi. Você pode enviar /catchup (desde que escreveu pela última vez), /catchup 2h, /catchup 30m, /catchup 10:00 (seu /timezone; senão, UTC), /catchup ontem ou /catchup 50 (as últimas 50 mensagens).
catchup-yesterday = ontem
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } { $zone }

catchup-own-title =
    { $count ->
        [one] O que foi dito desde que você escreveu pela última vez ({ $when }), { $count } mensagem:
       *[other] O que foi dito desde que você escreveu pela última vez ({ $when }), { $count } mensagens:
    }

catchup-new-title =
    { $count ->
        [one] Não sei quando você escreveu aqui pela última vez; isto é o que ouvi desde { $when }, { $count } mensagem:
       *[other] Não sei quando você escreveu aqui pela última vez; isto é o que ouvi desde { $when }, { $count } mensagens:
    }

catchup-since-title =
    { $count ->
        [one] O que foi dito desde { $when }, { $count } mensagem:
       *[other] O que foi dito desde { $when }, { $count } mensagens:
    }

catchup-last-title =
    { $count ->
        [one] A última mensagem, de { $when }:
       *[other] As últimas { $count } mensagens, desde { $when }:
    }

catchup-cut =
    { $count ->
        [one] Houve mais, mas de uma vez só consigo ler a última mensagem.
       *[other] Houve mais, mas de uma vez só consigo ler as últimas { $count } mensagens.
    }

catchup-point = • { $text } ({ $when })
catchup-point-by = • { $text } ({ $when }, { $name })
catchup-little = Nada importante, só conversa.
catchup-own-nothing = Você não perdeu nada: não ouvi nada aqui desde que você escreveu pela última vez ({ $when }).
catchup-since-nothing = Não ouvi nada aqui desde { $when }.
catchup-nothing = Ainda não ouvi nada aqui.
catchup-deaf = Só ouço o que é para mim, a não ser que eu seja administrador aqui ou que meu dono desligue meu modo de privacidade.
catchup-failed = Não consigo acessar o modelo de linguagem agora. Envie /catchup de novo daqui a alguns minutos.
catchup-unusable = Não consegui usar a resposta do modelo de linguagem. Envie /catchup de novo.
catchup-too-much = Era demais para ler de uma vez. Peça menos, por exemplo /catchup 50.
catchup-changed = Enquanto eu lia, mensagens foram alteradas ou apagadas. Envie /catchup de novo.
