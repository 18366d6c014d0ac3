help-model = /model — ver qual modelo responde aqui e escolher outro
menu-model = Ver qual modelo responde aqui e escolher outro
model-current = Aqui as minhas respostas vêm de { $model }.

model-choose =
    { $place ->
        [group] Os administradores podem tocar em um modelo para mudar isso.
       *[private] Toque em um modelo para mudar isso.
    }

model-unknown = Não tenho um modelo chamado { $model }. Envie /model para ver os que você pode escolher.

# The answer of a turn whose model is gone ends with this.
model-missing = { $model } não está disponível, então { $other } respondeu.
