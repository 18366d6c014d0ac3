help-reminders = /reminders — ver los recordatorios de este chat y cancelarlos
help-timezone = /timezone — ver o cambiar tu zona horaria, que necesito para los recordatorios
menu-reminders = Ver los recordatorios de este chat y cancelarlos
menu-timezone = Ver o cambiar tu zona horaria
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
forgotten-reminder = He borrado ese recordatorio. Los mensajes sobre él siguen aquí.
