# Textos del bot en español. Cada clave está en el archivo de cada idioma, con las mismas variables.

## /start y /help

start-private =
    ¡Hola! Soy un asistente que recuerda lo que le cuentas.
    Cuéntame lo que quieras y pregúntame por ello más adelante.
start-group =
    ¡Hola! Soy un asistente que recuerda este grupo.
    Respondan a mis mensajes o menciónenme y les contestaré.
start-erasing = Lo que se dice aquí se queda en este chat, y /reset lo borra.
start-offline = Estoy usando el modelo sin conexión, un pequeño sustituto de un modelo de lenguaje. Para tener respuestas de verdad, configura OPENAI_API_KEY.
start-button = ¿Qué sabes hacer?
help-private =
    Recuerdo lo que me cuentas en este chat. Nunca lo uso en otros chats.

    /new — empezar una conversación nueva; puedo seguir buscando en las anteriores
    /memory — ver lo que recuerdo de este chat
    /forget — en respuesta a un mensaje: borrarlo de todas partes
    /reset — borrar todo lo que recuerdo de este chat
    /stop — detener la respuesta que estoy escribiendo
    /usage — ver el uso de hoy y los límites
    /help — mostrar este texto

    Si editas un mensaje, recordaré el texto nuevo en lugar del anterior.
help-group =
    Contesto cuando responden a mis mensajes, me mencionan o me envían un comando. Lo que sé de este grupo se queda aquí, y cada tema tiene su propia memoria.

    /memory — ver lo que recuerdo de este grupo o tema
    /forget — en respuesta a un mensaje: borrarlo de todas partes
    /stop — detener la respuesta que estoy escribiendo
    /usage — ver el uso de hoy y los límites
    /help — mostrar este texto

    Para administradores, que también pueden usar /forget con mensajes de otras personas:
    /new — empezar una conversación nueva; puedo seguir buscando en las anteriores
    /reset — borrar todo lo que recuerdo de este grupo o tema
    /reset all — lo mismo para todos los temas del grupo

    Si editas un mensaje, recordaré el texto nuevo en lugar del anterior.
help-operator =
    Para los operadores de este bot:
    /stats — ver cuántos chats hay, la cola y el uso de hoy
    /reset -1001234 — borrar todo lo que recuerdo del chat con este ID

## El menú de comandos (256 caracteres como máximo)

menu-help = Qué sé hacer
menu-new = Empezar una conversación nueva; la memoria anterior se puede buscar
menu-memory = Qué guardo de este chat
menu-forget = En respuesta a un mensaje: borrarlo de lo que guardo
menu-reset = Borrar lo que guardo de este chat
menu-stop = Detener la respuesta que estoy escribiendo
menu-usage = Lo usado hoy y los límites
menu-stats = Para operadores: contextos, cola y uso

## Respuestas

nothing-to-show = La respuesta del modelo de lenguaje no contiene nada que se pueda mostrar. Pregúntamelo de otra manera, por favor.
stopped = Detenido.
stopped-mark = detenido
nothing-to-stop = No hay nada que detener: no estoy escribiendo ninguna respuesta.
unreadable = No puedo ver lo que hay en este tipo de mensaje. Dímelo con palabras, por favor.
unknown-command = No conozco el comando { $name }. Con /help ves los que conozco.
new-conversation = Conversación nueva. Lo que se dijo antes sigue en mi memoria y puedo buscarlo.

## Lo que ha fallado

buried = No pude terminar mi respuesta a un mensaje anterior: algo falló cada vez que lo intenté. Lo he apartado para el operador y sigo con el siguiente.
buried-edit = Editaste un mensaje y no pude guardar lo que dice ahora: algo falló cada vez que lo intenté. Lo he apartado para el operador. Con /forget en respuesta al mensaje, lo borro.
failure-model-unavailable = Ahora mismo no puedo conectar con el modelo de lenguaje. Tu mensaje está en mi memoria; pregúntame de nuevo dentro de un rato.
failure-model-quota = La cuenta del modelo de lenguaje se ha quedado sin cuota, así que no puedo contestar hasta que el operador lo arregle.
failure-model-refused = El modelo de lenguaje no aceptó mi petición, así que no puedo contestar. El operador puede ver el motivo en el registro.
failure-prompt-too-long = Es más de lo que el modelo de lenguaje puede leer de una vez. Envíamelo en partes más pequeñas, por favor.
failure-model-silent = El modelo de lenguaje dio una respuesta vacía dos veces. Pregúntamelo de otra manera o inténtalo de nuevo.
failure-deadline = Tardaba demasiado y lo he dejado. Inténtalo de nuevo, quizá con una pregunta más pequeña.
failure-other = Algo falló y no he podido contestar. Inténtalo de nuevo, por favor.

## Quién puede hacer qué

refused = Lo siento, no puedo hablar en este chat. No he guardado nada de lo que escribiste.
administrators-only = Eso solo pueden hacerlo los administradores de este grupo. No he cambiado nada.
operators-only = Eso solo pueden hacerlo los operadores de este bot. No he cambiado nada.
cannot-check = No he podido comprobar en Telegram quién administra este grupo, así que no he cambiado nada. Inténtalo de nuevo, por favor.
others-message = Aquí puedes pedir que olvide tus propios mensajes. Los de otros, y mis respuestas, solo los administradores de este grupo. No he cambiado nada.
invitation-accepted = ¡Te doy la bienvenida! Tu invitación es válida y desde ahora te contesto.
invitation-invalid = Esta invitación no existe, ya se ha usado o ha caducado. Pide un enlace nuevo a quien te invitó, por favor.
invitation-later = Has probado demasiadas invitaciones que no conozco. Espera una hora antes de la siguiente, por favor.

## Grupos

group-joined = ¡Hola! Soy un asistente que recuerda este grupo, y lo que sé de él no lo uso en ningún otro chat.
group-promoted = Ahora soy administrador aquí y veo más que antes.
group-sees-all = Veo todos los mensajes de este grupo, y solo contesto cuando se dirigen a mí.
group-sees-addressed = Solo veo lo que va dirigido a mí: respuestas a mis mensajes, menciones de { $bot } y comandos. Para que pueda seguir también la conversación, háganme administrador, o que mi dueño desactive mi modo de privacidad (/setprivacy en @BotFather) y me añada de nuevo al grupo.
group-keeps-talk =
    { $count ->
        [one] De lo que no va dirigido a mí guardo el último mensaje, una semana como máximo, para saber de qué hablan.
       *[other] De lo que no va dirigido a mí guardo los últimos { $count } mensajes, una semana como máximo, para saber de qué hablan.
    }
group-keeps-addressed = Guardo lo que me dicen y lo que contesto, y nada más.
group-addressing = Respóndanme o mencionen a { $bot } y contesto. Con /help cuento más, con /memory lo que guardo, y con /reset un administrador hace que se borre todo.

## Límites (wait = una de las wait-… de abajo)

limit-user-messages =
    { $limit ->
        [one] Puedo contestarte una vez por minuto
       *[other] Puedo contestarte { $limit } veces por minuto
    }, y ese límite ya se alcanzó. Inténtalo de nuevo dentro de { $wait }.
limit-chat-messages =
    { $limit ->
        [one] En este chat puedo contestar una vez por minuto
       *[other] En este chat puedo contestar { $limit } veces por minuto
    }, y ese límite ya se alcanzó. Inténtalo de nuevo dentro de { $wait }.
limit-user-tokens =
    { $limit ->
        [one] Has gastado tu { $limit } token de hoy.
       *[other] Has gastado tus { $limit } tokens de hoy.
    } Podré contestarte de nuevo dentro de { $wait }; el día empieza a las 00:00 UTC.
limit-chat-tokens =
    { $limit ->
        [one] Este chat ha gastado su { $limit } token de hoy.
       *[other] Este chat ha gastado sus { $limit } tokens de hoy.
    } Podré contestar aquí de nuevo dentro de { $wait }; el día empieza a las 00:00 UTC.
limit-user-money = Has gastado lo que se puede gastar contigo en un día ({ NUMBER($limit, maximumFractionDigits: 4) }). Podré contestarte de nuevo dentro de { $wait }; el día empieza a las 00:00 UTC.
limit-chat-money = Este chat ha gastado lo que puede gastar en un día ({ NUMBER($limit, maximumFractionDigits: 4) }). Podré contestar aquí de nuevo dentro de { $wait }; el día empieza a las 00:00 UTC.
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

## /usage

stats-contexts = Contextos: { $count }.
stats-queue = En la cola: { $count }, el más antiguo desde hace { $oldest }.
usage-title = Usado hoy (UTC):
usage-you = Tú: { $tokens }.
usage-you-money = Tú: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Este chat: { $tokens }.
usage-chat-money = Este chat: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Todos los chats: { $tokens }.
usage-all-money = Todos los chats: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-limits-none = No hay límites.
usage-limits-you = Límites por persona: { $limits }.
usage-limits-chat = Límites por chat: { $limits }.
usage-resets = La cuenta del día empieza de nuevo dentro de { $wait }.
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
count-ledger-turns =
    { $count ->
        [one] { $count } registro de herramientas
       *[other] { $count } registros de herramientas
    }
count-artifacts =
    { $count ->
        [one] { $count } artefacto
       *[other] { $count } artefactos
    }
count-heard =
    { $count ->
        [one] { $count } línea que no iba dirigida a mí
       *[other] { $count } líneas que no iban dirigidas a mí
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
unknown-now = no se sabe

## /memory

memory-nothing = No guardo nada de este chat.
memory-kept = De este chat guardo: { $messages }.
memory-kept-since = De este chat guardo: { $messages }. Su memoria empezó el { $since } UTC.
memory-conversation = En la conversación actual: { $count }. Se encuentran al buscar: { $searchable }.
memory-unsearchable = no se sabe, el índice no responde ahora
memory-beside = Además: { $summaries }, { $ledger }, { $artifacts }.
memory-heard = Guardado por poco tiempo como contexto: { $heard }.
memory-agent = Aquí contesta el agente { $agent }, al que se transfirió este chat.
memory-erasing = /forget en respuesta a un mensaje lo borra; /reset lo borra todo.
memory-summary = Lo que vino antes en esta conversación, en resumen:

## /forget y /reset

forget-usage = Responde con /forget al mensaje que debo olvidar, tuyo o mío. No he cambiado nada.
not-kept = No guardo ese mensaje, así que no hay nada que olvidar.
forgotten = He olvidado ese mensaje. Si otro lo repite, como una respuesta mía, haz que olvide también ese.
forgotten-unanswered = He olvidado ese mensaje. No lo recordaba: contestarlo había fallado, y solo estaba guardado para intentarlo de nuevo.
forgotten-unkept = He olvidado ese mensaje. No lo recordaba, pero otras cosas de aquí hablaban de él.
forget-interrupted = Hubo una interrupción: puede que se haya borrado más, además del mensaje, de lo que se cuenta aquí.
forget-doubt = Quedó algo. /reset borra todo lo que guardo de este chat.
unknown-chat-id = Un chat se nombra por su número, como en /reset -1001234. No he cambiado nada.
reset-asks =
    { $scope ->
        [topic] Vas a borrar todo lo que recuerdo de este tema.
        [all] Vas a borrar todo lo que recuerdo de este chat y de todos sus temas.
       *[chat] Vas a borrar todo lo que recuerdo de este chat.
    } No se puede deshacer. Para continuar, pulsa el botón antes de diez minutos.
reset-button = Borrar todo
reset-not-yours = Solo puede pulsar este botón quien envió /reset.
reset-expired = Este botón ha caducado y no se ha borrado nada. Envía /reset otra vez si todavía quieres borrarlo todo.
reset-nothing = No había nada que borrar.
reset-chat = He borrado la memoria de este chat.
reset-topic = He borrado la memoria de este tema.
reset-all = He borrado la memoria de este chat, con todos sus temas.
reset-other = He borrado la memoria del chat { $chat }.
reset-doubt = Llegó algo mientras lo comprobaba; envía /reset otra vez para estar seguro.
receipt-erased = Borrado: { $things }.
receipt-left = Encontrado al comprobarlo: mensajes { $messages }, entradas de búsqueda { $vectors }, todo lo demás { $others }.
receipt-proven = Después comprobé los dos almacenes: no queda nada.
receipt-index-away = El índice de búsqueda no responde ahora: ninguna búsqueda puede ver ya sus entradas, y se borrarán en cuanto responda.

## Archivos: lo que se dice cuando uno no se puede leer y el mensaje no tiene palabras que contestar

media-unseen = No puedo ver imágenes: el modelo de lenguaje con el que trabajo solo lee texto. Dime qué hay en ella y te ayudo con eso.
media-no-picture = No he podido abrir esta imagen. Envíala de nuevo, por favor, como foto o como archivo JPEG, PNG, WebP o GIF.
media-deaf = No puedo escuchar grabaciones: aquí no hay nada que las transcriba. Envíamelo como texto, por favor.
media-unheard = No he podido abrir esta grabación: no está en un formato que se pueda escuchar. Grábala de nuevo o envíalo como texto, por favor.
media-silent = He escuchado tu grabación, pero no he distinguido ninguna palabra. Inténtalo un poco más alto o envíalo como texto, por favor.
media-unavailable = No he podido escuchar tu grabación: el servicio que la transcribe no responde ahora. Envíala de nuevo dentro de un rato o envíalo como texto, por favor.
media-too-long = Esta grabación dura { $duration }; puedo escuchar { $limit } minutos como máximo. Envía una más corta, por favor.
media-too-large = Este archivo es demasiado grande para mí: puedo leer { $limit } MB como máximo. Envía uno más pequeño o la parte que importa, por favor.
media-gone = Telegram ya no me da este archivo. Envíalo de nuevo, por favor.
media-not-fetched = No he podido traer este archivo de Telegram ahora mismo. Envíalo de nuevo en un momento, por favor.
media-moving = No puedo ver vídeos ni animaciones. Envíame una foto de lo que importa o cuéntamelo con palabras.
media-unknown = No puedo leer este tipo de archivo. Leo texto, Markdown, CSV, JSON, código fuente y PDF; envíalo en uno de esos formatos o copia el texto en un mensaje, por favor.
media-empty = En este archivo no hay nada. Compruébalo y envíalo de nuevo, por favor.
media-pdf-encrypted = Este PDF está protegido y no puedo abrirlo. Envíalo sin contraseña, por favor.
media-pdf-corrupt = No he podido abrir este PDF: el archivo está dañado o no es un PDF. Envíalo de nuevo, por favor.
media-pdf-empty = En este PDF no hay texto.
media-pdf-scanned = Este PDF solo tiene imágenes de sus páginas y ningún texto que yo pueda leer. Envía uno con texto o fotos de las páginas que importan, por favor.
media-pdf-too-much = Leer este PDF da más trabajo del que puedo dedicarle. Envía uno más pequeño o las páginas que importan, por favor.

## Mientras se escribe una respuesta, y las largas

rest-in-file = La respuesta completa está en el archivo { $name }, aquí abajo.
preview-writing = Estoy escribiendo una respuesta…
preview-stop = ⏹ Detener
preview-tool = ⚙️ Uso la herramienta { $tool }…

# Botones

answer-written = Esa respuesta ya está escrita.
button-unknown = Este botón ya no hace nada.
stop-not-yours = Esta respuesta solo la pueden detener quien preguntó y los administradores del grupo.
