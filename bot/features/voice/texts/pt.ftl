help-voice = /voice — escolher quando respondo com mensagens de voz
menu-voice = Escolher quando respondo com mensagens de voz

voice-current =
    { $choice ->
        [never] Aqui respondo com texto.
        [when_spoken_to] Aqui respondo a mensagens de voz com mensagens de voz, e a textos com texto.
       *[always] Aqui respondo com mensagens de voz, com o texto abaixo.
    }

voice-choose =
    { $place ->
        [group] Os administradores podem tocar em uma opção para mudar isso.
       *[private] Toque em uma opção para mudar isso.
    }

voice-label =
    { $choice ->
        [never] Nunca
        [when_spoken_to] Quando falam comigo
       *[always] Sempre
    }

voice-none = Não consigo falar, porque este bot não tem um modelo de voz. Respondo com texto.
