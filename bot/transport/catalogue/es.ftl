# Textos del bot en español. Cada clave está en el archivo de cada idioma, con las mismas variables.

## /start y /help

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
help-private = Recuerdo lo que me cuentas en este chat. Nunca lo uso en otros chats.
help-group = Contesto cuando responden a mis mensajes, me mencionan o me envían un comando. Lo que sé de este grupo se queda aquí, y cada tema tiene su propia memoria.
help-administrators = Para administradores, que también pueden usar /forget con mensajes de otras personas:
help-operators = Para los operadores de este bot:
help-editing = Si editas un mensaje, recordaré el texto nuevo en lugar del anterior.

help-new = /new — empezar una conversación nueva; puedo seguir buscando en las anteriores
help-catchup = /catchup — ver qué se ha dicho desde que escribiste por última vez; o /catchup 2h, /catchup 10:00, /catchup 50
help-memory = { $place ->
    [group] /memory — ver lo que recuerdo de este grupo o tema
   *[private] /memory — ver lo que recuerdo de este chat
 }
help-facts = /facts — ver lo que sé de ti y borrarlo o corregirlo
help-reminders = /reminders — ver los recordatorios de este chat y cancelarlos
help-timezone = /timezone — ver o cambiar tu zona horaria, que necesito para los recordatorios
help-why = /why — respondiendo a una respuesta mía: ver en qué se basa
help-forget = /forget — respondiendo a un mensaje: borrarlo de todas partes
help-reset = { $place ->
    [group]
        /reset — borrar todo lo que recuerdo de este grupo o tema
        /reset all — lo mismo para todos los temas del grupo
   *[private] /reset — borrar todo lo que recuerdo de este chat
 }
help-stop = /stop — detener la respuesta que estoy escribiendo
help-model = /model — ver qué modelo responde aquí y elegir otro
help-voice = /voice — elegir cuándo respondo con mensajes de voz
help-usage = /usage — ver el uso de hoy y los límites
help-help = /help — mostrar este texto
help-stats = /stats — ver cuántos chats hay, la cola y el uso de hoy; /stats month: el uso de un mes
help-operators-reset = /reset -1001234 — borrar todo lo que recuerdo del chat con este ID

## Menú de comandos (256 caracteres como máximo)

menu-help = Lo que sé hacer
menu-new = Empezar una conversación nueva; puedo seguir buscando en las anteriores
menu-catchup = Ver qué se ha dicho desde que escribiste por última vez
menu-memory = Ver lo que recuerdo de este chat
menu-facts = Ver lo que sé de ti y borrarlo o corregirlo
menu-reminders = Ver los recordatorios de este chat y cancelarlos
menu-timezone = Ver o cambiar tu zona horaria
menu-why = Respondiendo a una respuesta mía: ver en qué se basa
menu-forget = Respondiendo a un mensaje: borrarlo de todas partes
menu-reset = Borrar todo lo que recuerdo de este chat
menu-stop = Detener la respuesta que estoy escribiendo
menu-model = Ver qué modelo responde aquí y elegir otro
menu-voice = Elegir cuándo respondo con mensajes de voz
menu-usage = Ver el uso de hoy y los límites
menu-stats = Para operadores: chats, cola y uso

## Respuestas

nothing-to-show = La respuesta del modelo de lenguaje no contenía nada que pueda mostrar. Pregúntamelo de otra manera, por favor.
stopped = Detenido.
stopped-sending = Detenido. No enviaré el resto de esa respuesta.
stopped-mark = detenido
cut-length = cortado: límite del modelo
cut-filter = cortado por el filtro del modelo
nothing-to-stop = No hay nada que detener: no estoy escribiendo ninguna respuesta.
unreadable = No puedo leer este tipo de mensaje. Escríbelo como texto, por favor.
unknown-command = No conozco el comando { $name }. Envía /help para ver lo que sé hacer.
new-conversation = Hemos empezado una conversación nueva. Sigo recordando las anteriores y puedo buscar en ellas.

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
invitation-accepted = ¡Te doy la bienvenida! Tu invitación es válida y ya puedes hablar conmigo.
invitation-invalid = Esta invitación no es válida: no existe, ya se ha usado o ha caducado. Pide un enlace nuevo a la persona que te invitó, por favor.
invitation-later = Has probado demasiadas invitaciones no válidas. Espera una hora antes de probar otra, por favor.

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

## /model

model-current = Aquí mis respuestas vienen de { $model }.
model-choose =
    { $place ->
        [group] Los administradores pueden tocar un modelo para cambiarlo.
       *[private] Toca un modelo para cambiarlo.
    }
model-unknown = No tengo ningún modelo llamado { $model }. Envía /model para ver los que puedes elegir.
# The answer of a turn whose model is gone ends with this.
model-missing = { $model } no está disponible, así que ha respondido { $other }.

# /voice
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

## /usage y /stats

stats-contexts = Chats y temas: { $count }.
stats-queue =
    { $count ->
        [0] La cola está vacía.
       *[other] En la cola: { $count }. El más antiguo lleva esperando { $oldest }.
    }
usage-title = Uso de hoy (UTC):
usage-none = Hoy todavía no se ha usado nada.
usage-you = Tú: { $tokens }.
usage-you-money = Tú: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Este chat: { $tokens }.
usage-chat-money = Este chat: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Todos los chats: { $tokens }.
usage-all-money = Todos los chats: { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }.
costs-title = Uso en { $month } (UTC):
costs-none = En { $month } (UTC) no se usó nada.
costs-used = { $tokens }, coste { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = De ese total, los resúmenes y los datos usaron { $used }.
costs-budget = Presupuesto por mes: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = Personas con más uso:
costs-chats = Chats con más uso:
costs-line = { $number }. { $name }: { $used }
costs-in-private = Para ver personas y chats, envíame este comando en privado.
costs-usage = Envía /stats month para ver este mes o /stats month { $month } para ver uno anterior. Guardo 13 meses.
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

## /memory

memory-nothing = No recuerdo nada de este chat.
memory-messages =
    { $count ->
        [0] No recuerdo ningún mensaje de este chat.
        [one] Recuerdo { $count } mensaje de este chat, desde el { DATETIME($since, dateStyle: "long") }.
       *[other] Recuerdo { $count } mensajes de este chat, desde el { DATETIME($since, dateStyle: "long") }.
    }
memory-conversation =
    { $count ->
        [one] { $count } es de nuestra conversación actual.
       *[other] { $count } son de nuestra conversación actual.
    }
memory-searchable =
    { $count ->
        [one] Puedo buscar en { $count } de ellos.
       *[other] Puedo buscar en { $count } de ellos.
    }
memory-searchable-all =
    { $count ->
        [1] Puedo buscar en él.
       *[other] Puedo buscar en todos.
    }
memory-unsearchable = Ahora mismo no puedo buscar en ellos.
memory-also = También guardo: { $things }.
memory-talk = Para seguir la conversación, también guardo durante poco tiempo: { $things }.
memory-agent = El agente { $agent } se ha hecho cargo de este chat y contesta aquí.
memory-erasing = Para borrar un mensaje, respóndele con /forget. Para borrarlo todo, envía /reset.
memory-summary = Un resumen de nuestra conversación anterior:
memory-open = Abrir la memoria

## /catchup (when = una fecha y una hora de UTC)

catchup-private = /catchup es para grupos: allí te cuento lo que se dijo mientras no estabas.
catchup-usage = No lo he entendido. Puedes enviar /catchup (desde que escribiste por última vez), /catchup 2h, /catchup 30m, /catchup 10:00 (UTC), /catchup ayer o /catchup 50 (los últimos 50 mensajes).
catchup-yesterday = ayer
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } UTC
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

## /facts

facts-title =
    { $place ->
        [group] Lo que sé aquí sobre ti o contado por ti:
       *[private] Lo que sé de este chat:
    }
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (hasta el { DATETIME($date, dateStyle: "long") })
list-page = Del { $first } al { $last }, de { $total } en total.
facts-none =
    { $place ->
        [group] Todavía no he anotado aquí ningún dato sobre ti o contado por ti.
       *[private] Todavía no he anotado ningún dato de este chat.
    }
facts-buttons = Pulsa ❌ para borrar un dato o ✏️ para corregirlo. /facts off los borra todos, y dejo de anotar otros.
facts-unread =
    { $count ->
        [one] Todavía estoy leyendo { $count } mensaje. Cuando termine, esta lista se actualizará sola.
       *[other] Todavía estoy leyendo { $count } mensajes. Cuando termine, esta lista se actualizará sola.
    }
list-delete = ❌ { $number }
facts-correct = ✏️ { $number }
list-back = ◀️ Atrás
list-more = Más ▶️
facts-cancel = Cancelar
facts-ask = ¿Qué es lo correcto en lugar de «{ $statement }»? Responde a este mensaje en menos de una hora.
facts-noted = Anotado: «{ $statement }»
facts-too-long = Escríbelo en una frase de { $limit } caracteres como máximo, otra vez en respuesta a mi pregunta. No he cambiado nada.
fact-deleted = He olvidado ese dato. El mensaje del que lo saqué sigue aquí: para borrarlo, respóndele con /forget.
facts-outdated = Esta lista ya no está al día: ese dato se ha cambiado o borrado. Esto es lo que sé ahora.
facts-not-yours = Solo pueden pulsar estos botones quien envió /facts y los administradores de este grupo.
facts-usage = Envía /facts para ver lo que sé de ti. Con /facts off lo borro y dejo de anotar, y con /facts on vuelvo a hacerlo. En los grupos, /facts off all es para administradores y vale para todos.
facts-unavailable = Aquí no anoto datos: el operador de este bot lo ha desactivado, o no hay un modelo para ello.
facts-are-off-private = En este chat no anoto datos. Envía /facts on si quieres que lo haga.
facts-are-off-group = Aquí no anoto datos. Un administrador puede cambiarlo con /facts on.
facts-are-off-person = Aquí no anoto datos sobre ti. Envía /facts on si quieres que lo haga.
facts-on-private = A partir de ahora anoto datos de lo que me escribas en este chat. /facts los muestra.
facts-on-group = A partir de ahora anoto aquí datos de lo que me escriban. Cada persona puede ver los suyos con /facts y negarse con /facts off.
facts-on-person = A partir de ahora anoto aquí datos sobre ti de lo que me escribas. /facts los muestra.
facts-already-on = Ya anoto datos aquí, también sobre ti. /facts los muestra.
facts-off-private = Ya no anoto datos de este chat, y he borrado los que tenía.
facts-off-group = Ya no anoto datos aquí, y he borrado los que tenía.
facts-off-person = Ya no anoto aquí datos sobre ti ni de lo que me cuentas, y he borrado los que tenía.

## /reminders y /timezone

reminder-when = { DATETIME($date, dateStyle: "long") }, { $time }
reminder-when-repeated = { $when } ({ $repeats ->
        [hourly] cada hora
        [daily] todos los días
        [weekdays] de lunes a viernes
        [weekly] cada semana
        [monthly] cada mes
        [yearly] cada año
       *[other] se repite
    })
reminder-due = ⏰ { $text }
reminder-due-group = ⏰ { $name }: { $text }
reminder-late = Llego tarde con esto: era para el { $when }.
reminder-missed = No pude enviar este recordatorio a su hora ({ $when }): { $text }
reminders-title = Recordatorios de este chat:
reminders-line = { $number }. { $when }: { $text }
reminders-line-by = { $number }. { $when }, { $name }: { $text }
reminders-none = No hay recordatorios en este chat. Para tener uno, escribe por ejemplo: «Recuérdame en 20 minutos regar las plantas».
reminders-buttons = Pulsa ❌ para cancelar un recordatorio.
reminders-zone = Las horas son de la zona horaria { $zone }. Para cambiarla, envía /timezone.
reminders-cancelled = Cancelado: «{ $text }»
reminders-gone = Esta lista ya no está al día: ese recordatorio se ha enviado o cancelado. Esto es lo que queda.
reminders-not-yours = Solo pueden cancelar este recordatorio quien lo pidió y los administradores de este grupo.
timezone-shown = Tu zona horaria es { $zone }, donde ahora son las { $time }. Para cambiarla, envía por ejemplo /timezone Madrid. Para que la olvide, envía /timezone off.
timezone-none = No sé cuál es tu zona horaria. Envíame una ciudad grande que esté en ella, por ejemplo /timezone Madrid, o tu ubicación como respuesta a este mensaje.
timezone-set = Tu zona horaria es ahora { $zone }, donde son las { $time }. Los recordatorios anteriores siguen a la misma hora.
timezone-off = He olvidado tu zona horaria.
timezone-unknown = No conozco la zona horaria «{ $name }», así que no he cambiado nada. Envíame una ciudad grande de tu zona horaria, por ejemplo /timezone Madrid, o tu diferencia horaria, por ejemplo /timezone UTC-3.
timezone-choose = ¿Cuál de estas es tu zona horaria?
timezone-other = Ninguna de estas
timezone-help = Envíame una ciudad más grande o tu país, por ejemplo /timezone Madrid, tu diferencia horaria, por ejemplo /timezone UTC-3, o la hora de tu reloj, por ejemplo /timezone 14:05.
timezone-fixed = No tiene horario de verano. Si tu reloj cambia en verano, pulsa una ciudad que tenga ahora tu hora:
timezone-meant = Si te referías a otro lugar, púlsalo:

## /why

count-memories =
    { $count ->
        [one] { $count } recuerdo
       *[other] { $count } recuerdos
    }
count-other-things =
    { $count ->
        [one] { $count } cosa más
       *[other] { $count } cosas más
    }
why-title =
    { $which ->
        [last] En qué se basa mi última respuesta:
       *[this] En qué se basa esa respuesta:
    }
why-memories = De la memoria:
why-memory = • { $day }, { $writer }: «{ $words }»
why-fact = • { $day }, sobre { $subject }: «{ $words }»
why-day = { DATETIME($date, dateStyle: "long") }
why-me = yo
why-somebody = alguien
why-origin =
    { $origin ->
        [forwarded] { $writer }, reenviado
        [via_bot] { $writer }, a través de otro bot
       *[attached] { $writer }, adjunto
    }
why-more =
    { $count ->
        [one] Y { $count } mensaje más.
       *[other] Y { $count } mensajes más.
    }
why-forgotten =
    { $count ->
        [one] { $count } mensaje ya está olvidado.
       *[other] { $count } mensajes ya están olvidados.
    }
why-facts-forgotten =
    { $count ->
        [one] { $count } dato ya está olvidado.
       *[other] { $count } datos ya están olvidados.
    }
why-nothing-recalled = De la memoria: nada.
why-also = También leí: { $things }.
why-window =
    { $count ->
        [one] el último mensaje de nuestra conversación
       *[other] los últimos { $count } mensajes de nuestra conversación
    }
why-summary = un resumen de nuestra conversación anterior
why-tools = Herramientas: { $tools }.
why-tool-failed = { $tool } (falló)
why-no-room = Omitido por falta de espacio: { $things }.
why-too-old = Omitido por ser demasiado antiguo: { $things }.
why-tokens = Modelo: { $models }. Leído: { $read }. Escrito: { $written }.
why-cost = Coste: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = Ese mensaje no es una respuesta mía, o la he olvidado. Responde con /why a una de mis respuestas.
why-none = Todavía no he respondido nada en esta conversación.
why-no-receipt = No tengo los detalles de esa respuesta. Los guardo 30 días como máximo.

## /forget y /reset

forget-usage = Responde con /forget al mensaje que debo olvidar, tuyo o mío. No he cambiado nada.
not-kept = No recuerdo ese mensaje, así que no hay nada que olvidar.
forgotten = He olvidado ese mensaje. Si otro mensaje lo repite, pídeme que olvide ese también.
forgotten-several = He olvidado esos mensajes. Si otro mensaje los repite, pídeme que olvide ese también.
forgotten-unanswered = He olvidado ese mensaje. No pude contestarlo y solo lo guardaba para intentarlo de nuevo.
forgotten-unkept = He olvidado ese mensaje. No lo recordaba, pero he borrado otras cosas de aquí que lo mencionaban.
forgotten-fact = He olvidado ese dato. Los mensajes de los que lo saqué siguen aquí.
forgotten-reminder = He borrado ese recordatorio. Los mensajes sobre él siguen aquí.
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
unknown-chat-id = Indica el ID del chat, por ejemplo /reset -1001234. No he cambiado nada.
reset-asks =
    { $scope ->
        [topic] Vas a borrar todo lo que recuerdo de este tema.
        [all] Vas a borrar todo lo que recuerdo de este chat y de todos sus temas.
       *[chat] Vas a borrar todo lo que recuerdo de este chat.
    } No se puede deshacer. Para continuar, pulsa el botón en los próximos diez minutos.
reset-button = Borrar todo
reset-not-yours = Solo puede pulsar este botón quien envió /reset.
reset-expired = Este botón ha caducado y no se ha borrado nada. Envía /reset otra vez si todavía quieres borrarlo todo.
reset-nothing = No había nada que borrar.
reset-chat = He borrado todo lo que recordaba de este chat.
reset-topic = He borrado todo lo que recordaba de este tema.
reset-all = He borrado todo lo que recordaba de este chat y de todos sus temas.
reset-other = He borrado todo lo que recordaba del chat { $chat }.
reset-doubt = Llegó algo nuevo mientras lo comprobaba. Envía /reset otra vez para asegurarte.
receipt-erased = Borrado: { $things }.
receipt-details = Detalles
receipt-still = Lo he comprobado, y todavía queda esto: { $things }.
receipt-proven = Lo he comprobado: no queda nada.
receipt-proven-text = Lo he comprobado: el texto en sí ya no está.
receipt-index-away = La búsqueda no responde ahora mismo, así que no he podido comprobarla. Ya no encuentra estas entradas, y se borrarán en cuanto vuelva.
receipt-unclean = El archivo de registro de la base de datos conserva las palabras antiguas hasta que el operador de este bot lo haga reescribir.

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
