help-incognito = /incognito — hablar sin que lo recuerde; envíalo otra vez para terminar
menu-incognito = Hablar sin que lo recuerde

incognito-on =
    { $place ->
        [group] 🕶 El modo incógnito está activado. Sigo usando lo que ya recuerdo, pero no guardo nada de lo que se diga aquí ahora, sea de quien sea, ni ninguna de mis respuestas.
       *[private] 🕶 El modo incógnito está activado. Sigo usando lo que ya recuerdo, pero no guardo nada de lo que me envíes ahora ni ninguna de mis respuestas.
    }

    Por eso tampoco puedo ver tu mensaje anterior. Si quieres preguntar más sobre una respuesta, respóndele directamente.

    Termina con el botón, con /incognito o tras una hora sin mensajes.

incognito-off = El modo incógnito está desactivado. No he guardado nada de lo dicho; a partir de ahora vuelvo a recordar.
incognito-end = Terminar el modo incógnito
incognito-mark = 🕶 Incógnito
incognito-line = 🕶 El modo incógnito está activado: no guardo nada de lo que se diga aquí ahora.
incognito-why = No guardo ningún registro de las respuestas en modo incógnito, así que no puedo decir en qué se basan.
