help-catchup = /catchup — ver qué se ha dicho desde que escribiste por última vez; o /catchup 2h, /catchup 10:00, /catchup 50
menu-catchup = Ver qué se ha dicho desde que escribiste por última vez
catchup-private = /catchup es para grupos: allí te cuento lo que se dijo mientras no estabas.
catchup-usage = No lo he entendido. Puedes enviar /catchup (desde que escribiste por última vez), /catchup 2h, /catchup 30m, /catchup 10:00 (tu /timezone; si no, UTC), /catchup ayer o /catchup 50 (los últimos 50 mensajes).
catchup-yesterday = ayer
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } { $zone }

catchup-own-title =
    { $count ->
        [one] Lo que se ha dicho desde que escribiste por última vez ({ $when }), { $count } mensaje:
       *[other] Lo que se ha dicho desde que escribiste por última vez ({ $when }), { $count } mensajes:
    }

catchup-new-title =
    { $count ->
        [one] No sé cuándo escribiste aquí por última vez; esto es lo que he oído desde el { $when }, { $count } mensaje:
       *[other] No sé cuándo escribiste aquí por última vez; esto es lo que he oído desde el { $when }, { $count } mensajes:
    }

catchup-since-title =
    { $count ->
        [one] Lo que se ha dicho desde el { $when }, { $count } mensaje:
       *[other] Lo que se ha dicho desde el { $when }, { $count } mensajes:
    }

catchup-last-title =
    { $count ->
        [one] El último mensaje, del { $when }:
       *[other] Los últimos { $count } mensajes, desde el { $when }:
    }

catchup-cut =
    { $count ->
        [one] Hubo más, pero de una vez solo puedo leer el último mensaje.
       *[other] Hubo más, pero de una vez solo puedo leer los últimos { $count } mensajes.
    }

catchup-point = • { $text } ({ $when })
catchup-point-by = • { $text } ({ $when }, { $name })
catchup-little = Nada importante, solo charla.
catchup-own-nothing = No te has perdido nada: no he oído nada aquí desde que escribiste por última vez ({ $when }).
catchup-since-nothing = No he oído nada aquí desde el { $when }.
catchup-nothing = Todavía no he oído nada aquí.
catchup-deaf = Solo oigo lo que es para mí, salvo que sea administrador aquí o que mi dueño desactive mi modo de privacidad.
catchup-failed = Ahora mismo no puedo conectar con el modelo de lenguaje. Vuelve a enviar /catchup dentro de unos minutos, por favor.
catchup-unusable = No he podido usar la respuesta del modelo de lenguaje. Vuelve a enviar /catchup, por favor.
catchup-too-much = Era demasiado para leerlo de una vez. Pide menos, por ejemplo /catchup 50.
catchup-changed = Mientras leía, se cambiaron o borraron mensajes. Vuelve a enviar /catchup, por favor.
