help-retention = { $place ->
    [group] /retention — ver y cambiar cuánto tiempo guardo los mensajes de este grupo o tema
   *[private] /retention — ver y cambiar cuánto tiempo guardo los mensajes de este chat
 }

menu-retention = Elegir cuánto tiempo guardo los mensajes

retention-span =
    { $days ->
        [0] Para siempre
        [365] 1 año
        [one] { $days } día
       *[other] { $days } días
    }

retention-limit = Aquí guardo los mensajes { $limit }. Después los borro en el plazo de un día, con todo lo que se basa en ellos.
retention-none = Aquí guardo los mensajes hasta que los borres.

retention-facts =
    { $facts ->
        [kept] Los datos que aprendí de ellos se quedan, y los recordatorios también.
       *[gone] Los datos que aprendí de ellos también se borran; los recordatorios se quedan.
    }

retention-operator = El operador de este bot permite como máximo { $limit }.

retention-choose =
    { $place ->
        [group] Los administradores pueden tocar una opción para cambiarlo.
       *[private] Toca una opción para cambiarlo.
    }

retention-facts-button =
    { $facts ->
        [kept] Borrar también los datos
       *[gone] Conservar los datos
    }

retention-asks =
    { $count ->
        [0] Aquí todavía no hay mensajes de más de { $limit }.
        [one] Vas a borrar { $count } mensaje de más de { $limit }, con todo lo que se basa en él.
       *[other] Vas a borrar { $count } mensajes de más de { $limit }, con todo lo que se basa en ellos.
    }

retention-asks-facts =
    { $facts ->
        [kept] Los datos se quedan.
        [dropped] También se borran los datos cuyos mensajes ya borré.
       *[gone] También se borran los datos de los mensajes más antiguos.
    }

retention-asks-button = No se puede deshacer. Para continuar, pulsa el botón en los próximos diez minutos.
retention-confirm = Borrar lo que tenga más de { $limit }
retention-back = No cambiar nada
retention-expired = Este botón ha caducado y no se ha cambiado nada.
retention-erasing = Ya estoy borrando lo más antiguo. Si el historial es largo, tardaré unos minutos.
retention-longer = Lo que ya borré no vuelve.
