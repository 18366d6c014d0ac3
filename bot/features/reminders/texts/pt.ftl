help-reminders = /reminders — ver os lembretes deste chat e cancelá-los
help-timezone = /timezone — ver ou mudar o seu fuso horário, que uso nos lembretes
menu-reminders = Ver os lembretes deste chat e cancelá-los
menu-timezone = Ver ou mudar o seu fuso horário
reminder-when = { DATETIME($date, dateStyle: "long") }, { $time }

reminder-when-repeated = { $when } ({ $repeats ->
        [hourly] a cada hora
        [daily] todos os dias
        [weekdays] de segunda a sexta
        [weekly] toda semana
        [monthly] todo mês
        [yearly] todo ano
       *[other] repete
    })

reminder-due = ⏰ { $text }
reminder-due-group = ⏰ { $name }: { $text }
reminder-late = Estou atrasado com isto: era para { $when }.
reminder-missed = Não consegui enviar este lembrete na hora ({ $when }): { $text }
reminders-title = Lembretes deste chat:
reminders-line = { $number }. { $when }: { $text }
reminders-line-by = { $number }. { $when }, { $name }: { $text }
reminders-none = Não há lembretes neste chat. Para ter um, escreva por exemplo: “Me lembre em 20 minutos de regar as plantas.”
reminders-buttons = Toque em ❌ para cancelar um lembrete.
reminders-zone = Os horários são do fuso horário { $zone }. Para mudá-lo, envie /timezone.
reminders-cancelled = Cancelado: “{ $text }”
reminders-gone = Esta lista está desatualizada: esse lembrete foi enviado ou cancelado. Aqui está o que resta.
reminders-not-yours = Só quem pediu este lembrete e os administradores deste grupo podem cancelá-lo.
timezone-shown = O seu fuso horário é { $zone }, onde agora são { $time }. Para mudá-lo, envie por exemplo /timezone Sao Paulo. Para eu esquecê-lo, envie /timezone off.
timezone-none = Não sei qual é o seu fuso horário. Envie uma cidade grande que fique nele, por exemplo /timezone Sao Paulo, ou a sua localização como resposta a esta mensagem.
timezone-set = O seu fuso horário agora é { $zone }, onde são { $time }. Os lembretes anteriores mantêm o horário.
timezone-off = Esqueci o seu fuso horário.
timezone-unknown = Não conheço o fuso horário “{ $name }”, por isso nada foi alterado. Envie uma cidade grande do seu fuso horário, por exemplo /timezone Sao Paulo, ou a diferença horária, por exemplo /timezone UTC-3.
timezone-choose = Qual destes é o seu fuso horário?
timezone-other = Nenhum destes
timezone-help = Envie uma cidade maior ou o seu país, por exemplo /timezone Sao Paulo, a diferença horária, por exemplo /timezone UTC-3, ou a hora do seu relógio, por exemplo /timezone 14:05.
timezone-fixed = Ele não tem horário de verão. Se o seu relógio muda no verão, toque numa cidade que tenha agora a sua hora:
timezone-meant = Se você quis dizer outro lugar, toque nele:
forgotten-reminder = Apaguei esse lembrete. As mensagens sobre ele continuam aqui.
