help-facts = /facts — ver o que sei sobre você, e apagar ou corrigir
menu-facts = Ver o que sei sobre você, e apagar ou corrigir

facts-title =
    { $place ->
        [group] O que sei aqui sobre você ou contado por você:
       *[private] O que sei deste chat:
    }

facts-standing = Seus desejos permanentes, que levo em conta em cada resposta:
facts-imported = { $statement } (importado do { $service })
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (até { DATETIME($date, dateStyle: "long") })

facts-none =
    { $place ->
        [group] Ainda não anotei aqui nenhum fato sobre você ou contado por você.
       *[private] Ainda não anotei nenhum fato deste chat.
    }

facts-buttons = Toque em ❌ para apagar um fato ou em ✏️ para corrigi-lo. /facts off apaga todos, e eu paro de anotar outros.

facts-unread =
    { $count ->
        [one] Ainda estou lendo { $count } mensagem. Quando eu terminar, esta lista se atualiza sozinha.
       *[other] Ainda estou lendo { $count } mensagens. Quando eu terminar, esta lista se atualiza sozinha.
    }

facts-correct = ✏️ { $number }
facts-cancel = Cancelar
facts-ask = Qual é o certo, em vez de “{ $statement }”? Responda a esta mensagem em até uma hora.
facts-noted = Anotado: “{ $statement }”
facts-too-long = Escreva em uma frase de no máximo { $limit } caracteres, de novo em resposta à minha pergunta. Nada foi alterado.
fact-deleted = Esqueci esse fato. A mensagem de onde ele veio continua aqui: para apagá-la, responda a ela com /forget.
facts-outdated = Esta lista está desatualizada: esse fato foi alterado ou apagado. Aqui está o que sei agora.
facts-not-yours = Só quem enviou /facts e os administradores deste grupo podem usar estes botões.
facts-usage = Envie /facts para ver o que sei sobre você. Com /facts off eu apago tudo e paro de anotar, e com /facts on volto a anotar. Em grupos, /facts off all é para administradores e vale para todos.
facts-unavailable = Não anoto fatos aqui: o operador deste bot desativou isso, ou não há um modelo para isso.
facts-are-off-private = Não anoto fatos neste chat. Envie /facts on se quiser que eu anote.
facts-are-off-group = Não anoto fatos aqui. Um administrador pode mudar isso com /facts on.
facts-are-off-person = Não anoto fatos sobre você aqui. Envie /facts on se quiser que eu anote.
facts-on-private = A partir de agora anoto fatos do que você me escrever neste chat. /facts mostra os fatos.
facts-on-group = A partir de agora anoto aqui fatos do que vocês me escreverem. Cada pessoa pode ver os seus com /facts e recusar com /facts off.
facts-on-person = A partir de agora anoto aqui fatos sobre você, do que você me escrever. /facts mostra os fatos.
facts-already-on = Já anoto fatos aqui, também sobre você. /facts mostra os fatos.
facts-off-private = Não anoto mais fatos deste chat, e apaguei os que tinha.
facts-off-group = Não anoto mais fatos aqui, e apaguei os que tinha.
facts-off-person = Não anoto mais aqui fatos sobre você ou contados por você, e apaguei os que tinha.
