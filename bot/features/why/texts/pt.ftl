help-why = /why — respondendo a uma resposta minha: ver em que ela se baseia
menu-why = Respondendo a uma resposta minha: ver em que ela se baseia

count-memories =
    { $count ->
        [one] { $count } lembrança
       *[other] { $count } lembranças
    }

count-other-things =
    { $count ->
        [one] { $count } outra coisa
       *[other] { $count } outras coisas
    }

why-title =
    { $which ->
        [last] Em que se baseia a minha última resposta:
       *[this] Em que se baseia essa resposta:
    }

why-memories = Da memória:
why-memory = • { $day }, { $writer }: “{ $words }”
why-fact = • { $day }, sobre { $subject }: “{ $words }”
why-day = { DATETIME($date, dateStyle: "long") }
why-me = eu
why-somebody = alguém

why-origin =
    { $origin ->
        [forwarded] { $writer }, encaminhado
        [imported] { $writer }, importado
        [via_bot] { $writer }, por meio de outro bot
       *[attached] { $writer }, anexo
    }

why-more =
    { $count ->
        [one] E mais { $count } mensagem.
       *[other] E mais { $count } mensagens.
    }

why-forgotten =
    { $count ->
        [one] { $count } mensagem já foi esquecida.
       *[other] { $count } mensagens já foram esquecidas.
    }

why-facts-forgotten =
    { $count ->
        [one] { $count } fato já foi esquecido.
       *[other] { $count } fatos já foram esquecidos.
    }

why-nothing-recalled = Da memória: nada.
why-also = Também li: { $things }.

why-window =
    { $count ->
        [one] a última mensagem da nossa conversa
       *[other] as últimas { $count } mensagens da nossa conversa
    }

why-summary = um resumo da nossa conversa anterior

why-standing =
    { $count ->
        [one] um desejo permanente
       *[other] { $count } desejos permanentes
    }

why-tools = Ferramentas: { $tools }.
why-tool-failed = { $tool } (falhou)
why-no-room = Deixado de fora por falta de espaço: { $things }.
why-too-old = Deixado de fora por ser antigo demais: { $things }.
why-tokens = Modelo: { $models }. Lido: { $read }. Escrito: { $written }.
why-cost = Custo: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = Essa mensagem não é uma resposta minha, ou já a esqueci. Responda com /why a uma das minhas respostas.
why-none = Ainda não respondi nada nesta conversa.
why-no-receipt = Não tenho os detalhes dessa resposta. Eu os guardo por 30 dias no máximo.
