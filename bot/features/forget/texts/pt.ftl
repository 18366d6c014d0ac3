help-forget = /forget — respondendo a uma mensagem: apagá-la de todos os lugares
menu-forget = Respondendo a uma mensagem: apagá-la de todos os lugares
forget-usage = Responda com /forget à mensagem que devo esquecer, sua ou minha. Nada foi alterado.
forgotten-several = Esqueci essas mensagens. Se outra mensagem as repetir, peça que eu esqueça essa também.
forgotten-unanswered = Esqueci essa mensagem. Não consegui respondê-la e só a guardava para uma nova tentativa.
forgotten-unkept = Esqueci essa mensagem. Eu não me lembrava dela, mas apaguei outras coisas daqui que a mencionavam.
forget-interrupted = Houve uma interrupção, então posso ter apagado mais do que está indicado aqui.
forget-doubt = Para apagar tudo o que lembro deste chat, envie /reset.

forget-used =
    { $count ->
        [one] { $count } das minhas respostas a usou e pode repeti-la.
       *[other] { $count } das minhas respostas a usaram e podem repeti-la.
    }

forget-used-several =
    { $count ->
        [one] { $count } das minhas respostas as usou e pode repeti-las.
       *[other] { $count } das minhas respostas as usaram e podem repeti-las.
    }

forget-rests = O mesmo vale para o que se baseia nelas: { $things }.
forget-answers-button = Esquecê-las também
