help-reset = { $place ->
    [group]
        /reset — borrar todo lo que recuerdo de este grupo o tema
        /reset all — lo mismo para todos los temas del grupo
   *[private] /reset — borrar todo lo que recuerdo de este chat
 }

menu-reset = Borrar todo lo que recuerdo de este chat
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
