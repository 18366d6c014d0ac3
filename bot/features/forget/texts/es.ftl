help-forget = /forget — respondiendo a un mensaje: borrarlo de todas partes
menu-forget = Respondiendo a un mensaje: borrarlo de todas partes
forget-usage = Responde con /forget al mensaje que debo olvidar, tuyo o mío. No he cambiado nada.
forgotten-several = He olvidado esos mensajes. Si otro mensaje los repite, pídeme que olvide ese también.
forgotten-unanswered = He olvidado ese mensaje. No pude contestarlo y solo lo guardaba para intentarlo de nuevo.
forgotten-unkept = He olvidado ese mensaje. No lo recordaba, pero he borrado otras cosas de aquí que lo mencionaban.
forget-interrupted = Hubo una interrupción, así que puede que haya borrado más de lo que se indica aquí.
forget-doubt = Para borrar todo lo que recuerdo de este chat, envía /reset.

forget-used =
    { $count ->
        [one] { $count } de mis respuestas lo usó y puede repetirlo.
       *[other] { $count } de mis respuestas lo usaron y pueden repetirlo.
    }

forget-used-several =
    { $count ->
        [one] { $count } de mis respuestas los usó y puede repetirlos.
       *[other] { $count } de mis respuestas los usaron y pueden repetirlos.
    }

forget-rests = Lo mismo vale para lo que se basa en ellas: { $things }.
forget-answers-button = Olvidarlas también
