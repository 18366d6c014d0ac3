help-facts = /facts — ver lo que sé de ti y borrarlo o corregirlo
menu-facts = Ver lo que sé de ti y borrarlo o corregirlo

facts-title =
    { $place ->
        [group] Lo que sé aquí sobre ti o contado por ti:
       *[private] Lo que sé de este chat:
    }

facts-standing = Tus deseos permanentes, que tengo en cuenta en cada respuesta:
facts-imported = { $statement } (importado de { $service })
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (hasta el { DATETIME($date, dateStyle: "long") })

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

facts-correct = ✏️ { $number }
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
