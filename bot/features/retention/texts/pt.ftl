help-retention = { $place ->
    [group] /retention — ver e mudar por quanto tempo guardo as mensagens deste grupo ou tópico
   *[private] /retention — ver e mudar por quanto tempo guardo as mensagens deste chat
 }

menu-retention = Escolher por quanto tempo guardo mensagens

retention-span =
    { $days ->
        [0] Para sempre
        [365] 1 ano
        [one] { $days } dia
       *[other] { $days } dias
    }

retention-limit = Aqui guardo as mensagens por { $limit }. Depois as apago em até um dia, com tudo o que se baseia nelas.
retention-none = Aqui guardo as mensagens até que você as apague.

retention-facts =
    { $facts ->
        [kept] Os fatos que aprendi com elas ficam, e os lembretes também.
       *[gone] Os fatos que aprendi com elas também são apagados; os lembretes ficam.
    }

retention-operator = O operador deste bot permite no máximo { $limit }.

retention-choose =
    { $place ->
        [group] Os administradores podem tocar em uma opção para mudar isso.
       *[private] Toque em uma opção para mudar isso.
    }

retention-facts-button =
    { $facts ->
        [kept] Apagar os fatos também
       *[gone] Manter os fatos
    }

retention-asks =
    { $count ->
        [0] Ainda não há aqui mensagens com mais de { $limit }.
        [one] Isso apaga { $count } mensagem com mais de { $limit }, com tudo o que se baseia nela.
       *[other] Isso apaga { $count } mensagens com mais de { $limit }, com tudo o que se baseia nelas.
    }

retention-asks-facts =
    { $facts ->
        [kept] Os fatos ficam.
        [dropped] Também são apagados os fatos cujas mensagens já apaguei.
       *[gone] Também são apagados os fatos de mensagens mais antigas.
    }

retention-asks-button = Não dá para desfazer. Para continuar, toque no botão em até dez minutos.
retention-confirm = Apagar o que tem mais de { $limit }
retention-back = Não mudar nada
retention-expired = Este botão expirou, e nada foi alterado.
retention-erasing = Já estou apagando o que é mais antigo. Com um histórico longo, isso leva alguns minutos.
retention-longer = O que já apaguei não volta.
