help-forget = /forget — respondendo a uma mensagem: apagá-la de todos os lugares; /forget me: o que você disse, num grupo só aqui, em nosso chat privado em todos os lugares
menu-forget = Respondendo a uma mensagem: apagá-la de todos os lugares
forget-usage = Responda com /forget à mensagem que devo esquecer, sua ou minha. Nada foi alterado. /forget me apaga o que você disse.
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

forget-me-asks =
    { $scope ->
        [here] Isto apaga o que você disse aqui, o que concluí disso, seus lembretes e minhas respostas a você, que repetem suas palavras. O que outras pessoas escreveram fica.
       *[everywhere] Isto apaga o que você disse em todos os chats comigo, o que concluí disso, seus lembretes e minhas respostas a você, que repetem suas palavras. O que outras pessoas escreveram fica.
    }

forget-me-found = Encontrei:
forget-me-nothing = Não encontrei mensagens suas; vou olhar tudo de novo.
forget-me-more = … e mais { $count } chats
forget-me-undo = Não dá para desfazer. Para continuar, toque no botão em até dez minutos.
forget-me-button = Esqueça-me
forget-me-begun = Estou esquecendo o que você disse. O que você escrever a partir de agora é novo e fica. Quando eu terminar, envio um recibo assinado.
forget-me-done = O que você disse foi apagado; este arquivo é o seu recibo, e o operador deste bot pode conferi-lo com “mnemogram verify”.
forget-me-not-yours = Só quem enviou /forget me pode tocar neste botão.
forget-me-expired = Este botão expirou, e nada foi apagado. Envie /forget me de novo se ainda quiser.
forget-me-anonymous = Você escreve como grupo ou canal, então não sei quem você é. Nada foi alterado.
