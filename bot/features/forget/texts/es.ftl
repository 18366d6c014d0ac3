help-forget = /forget — respondiendo a un mensaje: borrarlo de todas partes; /forget me: lo que has dicho, en un grupo solo aquí, en nuestro chat privado en todas partes
menu-forget = Respondiendo a un mensaje: borrarlo de todas partes
forget-usage = Responde con /forget al mensaje que debo olvidar, tuyo o mío. No he cambiado nada. /forget me borra lo que has dicho.
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

forget-me-asks =
    { $scope ->
        [here] Esto borra lo que has dicho aquí, lo que deduje de ello, tus recordatorios y mis respuestas a ti, que repiten tus palabras. Lo que otros han escrito se queda.
       *[everywhere] Esto borra lo que has dicho en todos los chats conmigo, lo que deduje de ello, tus recordatorios y mis respuestas a ti, que repiten tus palabras. Lo que otros han escrito se queda.
    }

forget-me-found = He encontrado:
forget-me-nothing = No he encontrado mensajes tuyos; volveré a mirarlo todo.
forget-me-more = … y { $count } chats más
forget-me-undo = No se puede deshacer. Para seguir, pulsa el botón en los próximos diez minutos.
forget-me-button = Olvídame
forget-me-begun = Estoy olvidando lo que has dicho. Lo que escribas a partir de ahora es nuevo y se queda. Cuando termine, te enviaré un recibo firmado.
forget-me-done = Lo que has dicho está borrado; este archivo es tu recibo, y el operador de este bot puede comprobarlo con «mnemogram verify».
forget-me-not-yours = Solo puede pulsar este botón quien envió /forget me.
forget-me-expired = Este botón ha caducado y no se ha borrado nada. Envía /forget me otra vez si todavía lo quieres.
forget-me-anonymous = Escribes como grupo o canal, así que no sé quién eres. No he cambiado nada.
