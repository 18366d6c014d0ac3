start-private =
    ¡Hola! Soy un asistente que recuerda lo que le cuentas.
    Cuéntame lo que quieras y pregúntame por ello más adelante.

start-group =
    ¡Hola! Soy un asistente que recuerda este grupo.
    Respondan a mis mensajes o menciónenme y les contestaré.

start-erasing = Lo que se dice aquí se queda en este chat, y /reset lo borra.
start-offline = Ahora mismo no tengo detrás un modelo de lenguaje, así que no puedo charlar libremente. Pero recuerdo lo que me cuentas y lo cito cuando me preguntas.
start-offline-operator = Para operadores: configura OPENAI_API_KEY para tener respuestas de verdad.
start-button = ¿Qué sabes hacer?

start-page =
    Pulsa el botón para abrir la memoria de tu grupo. { $viewers ->
        [members] Solo pueden verla sus miembros.
       *[administrators] Solo pueden verla sus administradores.
    }

start-page-off = La página de memoria de los grupos está desactivada, así que no puedo abrirla.
help-help = /help — mostrar este texto
menu-help = Lo que sé hacer
invitation-accepted = ¡Te doy la bienvenida! Tu invitación es válida y ya puedes hablar conmigo.
invitation-invalid = Esta invitación no es válida: no existe, ya se ha usado o ha caducado. Pide un enlace nuevo a la persona que te invitó, por favor.
invitation-later = Has probado demasiadas invitaciones no válidas. Espera una hora antes de probar otra, por favor.
