help-incognito = /incognito — conversar sem que eu me lembre depois; envie de novo para encerrar
menu-incognito = Conversar sem que eu me lembre depois

incognito-on =
    { $place ->
        [group] 🕶 O modo anônimo está ativado. Continuo usando o que já lembro, mas não guardo nada do que for dito aqui agora, seja por quem for, nem nenhuma das minhas respostas.
       *[private] 🕶 O modo anônimo está ativado. Continuo usando o que já lembro, mas não guardo nada do que você me enviar agora nem nenhuma das minhas respostas.
    }

    Por isso também não consigo ver a sua mensagem anterior. Para perguntar mais sobre uma resposta, responda diretamente a ela.

    Ele termina com o botão, com /incognito ou depois de uma hora sem mensagens.

incognito-off = O modo anônimo está desativado. Não guardei nada do que foi dito; a partir de agora volto a lembrar.
incognito-end = Encerrar o modo anônimo
incognito-mark = 🕶 Modo anônimo
incognito-line = 🕶 O modo anônimo está ativado: não guardo nada do que for dito aqui agora.
incognito-why = Não guardo nenhum registro das respostas no modo anônimo, então não consigo dizer em que elas se baseiam.
