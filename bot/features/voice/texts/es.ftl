help-voice = /voice — elegir cuándo respondo con mensajes de voz
menu-voice = Elegir cuándo respondo con mensajes de voz

voice-current =
    { $choice ->
        [never] Aquí respondo con texto.
        [when_spoken_to] Aquí respondo a los mensajes de voz con mensajes de voz, y a los textos con texto.
       *[always] Aquí respondo con mensajes de voz, con el texto debajo.
    }

voice-choose =
    { $place ->
        [group] Los administradores pueden tocar una opción para cambiarlo.
       *[private] Toca una opción para cambiarlo.
    }

voice-label =
    { $choice ->
        [never] Nunca
        [when_spoken_to] Si me hablan
       *[always] Siempre
    }

voice-none = No puedo hablar, porque este bot no tiene un modelo de voz. Respondo con texto.
