# Textos del bot en español. Cada clave está en el archivo de cada idioma, con las mismas variables.

## /start y /help

help-private = Recuerdo lo que me cuentas en este chat. Nunca lo uso en otros chats.
help-group = Contesto cuando responden a mis mensajes, me mencionan o me envían un comando. Lo que sé de este grupo se queda aquí, y cada tema tiene su propia memoria.
help-administrators = Para administradores, que también pueden usar /forget con mensajes de otras personas:
help-operators = Para los operadores de este bot:
help-editing = Si editas un mensaje, recordaré el texto nuevo en lugar del anterior.

help-operators-reset = /reset -1001234 — borrar todo lo que recuerdo del chat con este ID

## Respuestas

nothing-to-show = La respuesta del modelo de lenguaje no contenía nada que pueda mostrar. Pregúntamelo de otra manera, por favor.
stopped = Detenido.
stopped-sending = Detenido. No enviaré el resto de esa respuesta.
stopped-mark = detenido
cut-length = cortado: límite del modelo
cut-filter = cortado por el filtro del modelo
unreadable = No puedo leer este tipo de mensaje. Escríbelo como texto, por favor.
unknown-command = No conozco el comando { $name }. Envía /help para ver lo que sé hacer.

## Errores

buried = No pude terminar mi respuesta a un mensaje anterior, aunque lo intenté varias veces. Lo he apartado para el operador y sigo con el siguiente.
buried-edit = Editaste un mensaje, pero no pude guardar el texto nuevo, aunque lo intenté varias veces. Lo he apartado para el operador. Para borrar el mensaje, respóndele con /forget.
failure-model-unavailable = Ahora mismo no puedo conectar con el modelo de lenguaje. He guardado tu mensaje; pregúntame de nuevo dentro de unos minutos.
failure-model-quota = La cuenta del modelo de lenguaje ha agotado su cuota. No puedo contestar hasta que el operador lo arregle.
failure-model-refused = El modelo de lenguaje rechazó mi petición, así que no puedo contestar. El operador puede ver el motivo en el registro.
failure-model-filtered = El filtro de contenido del modelo de lenguaje ha rechazado esto, así que no puedo contestar. Dilo con otras palabras, por favor.
quoted-words = «{ $text }»
refused-messages =
    { $count ->
        [one] El filtro del modelo de lenguaje ha rechazado tu mensaje { $messages }, así que lo he dejado fuera de nuestra conversación. Dilo con otras palabras, por favor. Si editas el mensaje, volveré a usarlo.
       *[other] El filtro del modelo de lenguaje ha rechazado tus mensajes { $messages }, así que los he dejado fuera de nuestra conversación. Dilo con otras palabras, por favor. Si editas un mensaje, volveré a usarlo.
    }
# The answer ends with this if something else than the question was refused.
left-out =
    { $what ->
        [quote] He contestado sin el mensaje al que respondías, porque el filtro del modelo de lenguaje lo ha rechazado.
        [talk] He contestado sin lo último que se habló en este grupo, porque el filtro del modelo de lenguaje lo ha rechazado.
        [memories] He dejado fuera algunos mensajes antiguos, porque el filtro del modelo de lenguaje los ha rechazado. Ya no los usaré en mis respuestas.
       *[conversation] He dejado fuera lo que habíamos dicho antes, porque el filtro del modelo de lenguaje lo ha rechazado, y hemos empezado una conversación nueva. Todavía puedo buscar en la anterior.
    }
failure-prompt-too-long = Es más de lo que el modelo de lenguaje puede leer de una vez. Envíamelo en partes más pequeñas, por favor.
failure-model-silent = El modelo de lenguaje dio una respuesta vacía dos veces. Pregúntamelo de otra manera o inténtalo de nuevo.
failure-deadline = Estaba tardando demasiado, así que lo he dejado. Inténtalo de nuevo, quizá con una pregunta más corta.
failure-other = Algo ha fallado y no he podido contestar. Inténtalo de nuevo, por favor.

## Permisos

refused = Lo siento, no tengo permiso para hablar en este chat. No he guardado nada de lo que escribiste.
administrators-only = Eso solo pueden hacerlo los administradores de este grupo. No he cambiado nada.
operators-only = Eso solo pueden hacerlo los operadores de este bot. No he cambiado nada.
cannot-check = No he podido preguntar a Telegram quién administra este grupo, así que no he cambiado nada. Inténtalo de nuevo, por favor.
others-message = Aquí solo puedes hacer que olvide tus propios mensajes. Los administradores también pueden hacerlo con los mensajes de otras personas y con mis respuestas. No he cambiado nada.

## Grupos

group-joined = ¡Hola! Soy un asistente que recuerda este grupo. Lo que aprendo aquí se queda aquí.
group-promoted = Ahora soy administrador aquí y puedo ver más que antes.
group-sees-all = Puedo ver todos los mensajes de este grupo, pero solo contesto cuando se dirigen a mí.
group-sees-addressed = Solo veo los mensajes que son para mí: respuestas a los míos, menciones de { $bot } y comandos. Si quieren que siga también la conversación, háganme administrador. O pidan a mi dueño que desactive mi modo de privacidad (/setprivacy en @BotFather) y me añada de nuevo al grupo.
group-keeps-talk =
    { $count ->
        [one] Para entender de qué hablan, también guardo el último mensaje que no es para mí, durante una semana como máximo.
       *[other] Para entender de qué hablan, también guardo los últimos { $count } mensajes que no son para mí, durante una semana como máximo.
    }
group-keeps-addressed = Solo guardo lo que me dicen y lo que contesto.
group-addressing = Respondan a mis mensajes o mencionen a { $bot } y les contestaré. Envíen /help para ver lo que sé hacer, o /memory para ver lo que recuerdo. Los administradores pueden borrarlo todo con /reset.

## Límites (wait = una de las wait-… de abajo)

limit-user-messages =
    { $limit ->
        [one] Puedo contestarte una vez por minuto
       *[other] Puedo contestarte { $limit } veces por minuto
    }, y ya has llegado a ese límite. Inténtalo de nuevo dentro de { $wait }.
limit-chat-messages =
    { $limit ->
        [one] En este chat puedo contestar una vez por minuto
       *[other] En este chat puedo contestar { $limit } veces por minuto
    }, y ya se ha llegado a ese límite. Inténtalo de nuevo dentro de { $wait }.
limit-user-tokens =
    { $limit ->
        [one] Has gastado tu { $limit } token de hoy.
       *[other] Has gastado tus { $limit } tokens de hoy.
    } Podré contestarte de nuevo dentro de { $wait }, cuando empiece el nuevo día (00:00 UTC).
limit-chat-tokens =
    { $limit ->
        [one] Este chat ha gastado su { $limit } token de hoy.
       *[other] Este chat ha gastado sus { $limit } tokens de hoy.
    } Podré contestar aquí de nuevo dentro de { $wait }, cuando empiece el nuevo día (00:00 UTC).
limit-user-money = Has llegado a tu límite de gasto de hoy ({ NUMBER($limit, maximumFractionDigits: 4) }). Podré contestarte de nuevo dentro de { $wait }, cuando empiece el nuevo día (00:00 UTC).
limit-chat-money = Este chat ha llegado a su límite de gasto de hoy ({ NUMBER($limit, maximumFractionDigits: 4) }). Podré contestar aquí de nuevo dentro de { $wait }, cuando empiece el nuevo día (00:00 UTC).
limit-all-money = El presupuesto de este mes se ha agotado y por ahora no puedo contestar. Volveré el { DATETIME($date, dateStyle: "long") } (00:00 UTC).
budget-warning = Se ha usado el { $percent } % del presupuesto de este mes: { NUMBER($money, maximumFractionDigits: 4) } de { NUMBER($limit, maximumFractionDigits: 4) }. Cuando se agote, solo contestaré a los operadores hasta el { DATETIME($date, dateStyle: "long") } (00:00 UTC). Envía /stats month para ver los costes.
budget-used-up = El presupuesto de este mes se ha agotado: { NUMBER($money, maximumFractionDigits: 4) } de { NUMBER($limit, maximumFractionDigits: 4) }. Hasta el { DATETIME($date, dateStyle: "long") } (00:00 UTC) solo contestaré a los operadores. Envía /stats month para ver los costes.
wait-seconds =
    { $count ->
        [one] { $count } segundo
       *[other] { $count } segundos
    }
wait-minutes =
    { $count ->
        [one] { $count } minuto
       *[other] { $count } minutos
    }
wait-hours =
    { $count ->
        [one] { $count } hora
       *[other] { $count } horas
    }

## /usage y /stats

usage-title = Uso de hoy (UTC):
usage-none = Hoy todavía no se ha usado nada.
usage-you = Tú: { $tokens }.
usage-you-money = Tú: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Este chat: { $tokens }.
usage-chat-money = Este chat: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Todos los chats: { $tokens }.
usage-all-money = Todos los chats: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-limits-none = No hay límites.
usage-limits-you = Límites por persona: { $limits }.
usage-limits-chat = Límites por chat: { $limits }.
usage-resets = La cuenta del día vuelve a empezar dentro de { $wait }.
usage-tokens =
    { $count ->
        [one] { $count } token
       *[other] { $count } tokens
    }
usage-limit-messages =
    { $count ->
        [one] { $count } mensaje por minuto
       *[other] { $count } mensajes por minuto
    }
usage-limit-tokens =
    { $count ->
        [one] { $count } token al día
       *[other] { $count } tokens al día
    }
usage-limit-money = coste { NUMBER($money, maximumFractionDigits: 4) } al día

## Cantidades, siempre tras dos puntos o en una lista

list-separator = {", "}
count-messages =
    { $count ->
        [one] { $count } mensaje
       *[other] { $count } mensajes
    }
count-facts =
    { $count ->
        [one] { $count } dato
       *[other] { $count } datos
    }
count-reminders =
    { $count ->
        [one] { $count } recordatorio
       *[other] { $count } recordatorios
    }
count-vectors =
    { $count ->
        [one] { $count } entrada de búsqueda
       *[other] { $count } entradas de búsqueda
    }
count-summaries =
    { $count ->
        [one] { $count } resumen
       *[other] { $count } resúmenes
    }
count-tool-notes =
    { $count ->
        [one] { $count } nota sobre herramientas que usé
       *[other] { $count } notas sobre herramientas que usé
    }
count-results =
    { $count ->
        [one] { $count } documento o resultado guardado
       *[other] { $count } documentos o resultados guardados
    }
count-talk =
    { $count ->
        [one] { $count } mensaje que no era para mí
       *[other] { $count } mensajes que no eran para mí
    }
count-quotes =
    { $count ->
        [one] { $count } cita
       *[other] { $count } citas
    }
count-updates =
    { $count ->
        [one] { $count } mensaje en espera
       *[other] { $count } mensajes en espera
    }
count-unsent =
    { $count ->
        [one] { $count } mensaje aún sin enviar
       *[other] { $count } mensajes aún sin enviar
    }

## /facts

list-page = Del { $first } al { $last }, de { $total } en total.
list-delete = ❌ { $number }
list-back = ◀️ Atrás
list-more = Más ▶️

## /forget y /reset

not-kept = No recuerdo ese mensaje, así que no hay nada que olvidar.
forgotten = He olvidado ese mensaje. Si otro mensaje lo repite, pídeme que olvide ese también.
forgotten-fact = He olvidado ese dato. Los mensajes de los que lo saqué siguen aquí.
receipt-erased = Borrado: { $things }.
receipt-details = Detalles
receipt-still = Lo he comprobado, y todavía queda esto: { $things }.
receipt-proven = Lo he comprobado: no queda nada.
receipt-proven-text = Lo he comprobado: el texto en sí ya no está.
receipt-index-away = La búsqueda no responde ahora mismo, así que no he podido comprobarla. Ya no encuentra estas entradas, y se borrarán en cuanto vuelva.
receipt-unclean = El archivo de registro de la base de datos conserva las palabras antiguas hasta que el operador de este bot lo haga reescribir.
receipt-not-copied = No se pudo anotar este borrado junto a la base de datos. Si el operador de este bot restaura alguna vez una copia anterior, pídelo de nuevo.

## Archivos que no se pueden leer en mensajes sin texto

media-unseen = No puedo ver imágenes: mi modelo de lenguaje solo lee texto. Dime qué hay en ella y te ayudaré con eso.
media-no-picture = No he podido abrir esta imagen. Envíala de nuevo como foto o como archivo JPEG, PNG, WebP o GIF, por favor.
media-deaf = No puedo escuchar grabaciones, porque aquí no está configurada la transcripción. Envíamelo como texto, por favor.
media-unheard = No he podido abrir esta grabación, porque no puedo reproducir su formato. Grábala de nuevo o envíamela como texto, por favor.
media-silent = He escuchado tu grabación, pero no he entendido ninguna palabra. Inténtalo un poco más alto o envíamela como texto, por favor.
media-unavailable = No he podido escuchar tu grabación, porque el servicio de transcripción no responde. Envíala de nuevo más tarde o como texto, por favor.
media-too-long = Esta grabación dura { $duration } y puedo escuchar { $limit } minutos como máximo. Envía una más corta, por favor.
media-too-large = Este archivo es demasiado grande para mí: puedo leer hasta { $limit } MB. Envía uno más pequeño o solo la parte importante, por favor.
media-gone = Telegram ya no me da este archivo. Envíalo de nuevo, por favor.
media-not-fetched = Ahora mismo no he podido obtener este archivo de Telegram. Envíalo de nuevo dentro de un momento, por favor.
media-moving = No puedo ver vídeos ni animaciones. Envíame una foto de lo importante o descríbemelo con palabras.
media-unknown = No puedo leer este tipo de archivo. Leo texto, Markdown, CSV, JSON, código fuente y PDF. Envíalo en uno de esos formatos o pega el texto en un mensaje, por favor.
media-empty = Este archivo está vacío. Compruébalo y envíalo de nuevo, por favor.
media-encoding = No reconozco la codificación de este texto. Guárdalo como UTF-8 y envíalo de nuevo, o pega el texto en un mensaje, por favor.
media-pdf-encrypted = Este PDF está protegido y no puedo abrirlo. Envíalo sin contraseña, por favor.
media-pdf-corrupt = No he podido abrir este PDF: el archivo está dañado o no es un PDF. Envíalo de nuevo, por favor.
media-pdf-empty = En este PDF no hay texto.
media-pdf-scanned = Este PDF solo contiene imágenes de sus páginas, así que no hay texto que pueda leer. Envía un PDF con texto o fotos de las páginas importantes, por favor.
media-pdf-too-much = Este PDF es demasiado grande para mí. Envía uno más pequeño o solo las páginas importantes, por favor.

## Vista previa y respuestas largas

rest-in-file = La respuesta completa está en el archivo { $name }, aquí abajo.
rest-not-shown = La respuesta continúa, pero no puedo enviar archivos en este chat. Pídeme la parte que necesites.
whole-in-file = La respuesta completa está en este archivo, para que tu próximo mensaje no tenga que esperar.
file-not-sent = No he podido enviar el archivo { $name }. Pídeme que lo prepare otra vez.
preview-writing = Estoy escribiendo una respuesta…
preview-stop = ⏹ Detener
preview-tool = ⚙️ Usando la herramienta { $tool }…
inline-ask = Preguntar a { $bot }
inline-open = Abrir el bot
inline-erased = Se borró mi memoria antes de que pudiera contestar. Pregúntame otra vez, por favor.
inline-cut = La respuesta no cabe en un mensaje. Pregúntame en nuestro chat privado para leerla entera.

## Botones

answer-written = Ya he terminado esa respuesta.
button-unknown = Este botón ya no funciona.
button-gone = Ya no puedo saber en qué tema está este mensaje, así que no he cambiado nada. Envía { $command } en ese tema, por favor.
stop-not-yours = Solo pueden detener esta respuesta la persona que preguntó y los administradores del grupo.
