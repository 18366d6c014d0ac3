help-why = /why — в ответ на моё сообщение: показать, на чём оно основано
menu-why = В ответ на моё сообщение: показать, на чём оно основано

count-memories =
    { $count ->
        [one] { $count } воспоминание
        [few] { $count } воспоминания
       *[other] { $count } воспоминаний
    }

count-other-things =
    { $count ->
        [one] ещё { $count } запись
        [few] ещё { $count } записи
       *[other] ещё { $count } записей
    }

why-title =
    { $which ->
        [last] На чём основан мой последний ответ:
       *[this] На чём основан этот ответ:
    }

why-memories = Из памяти:
why-memory = • { $day }, { $writer }: «{ $words }»
why-fact = • { $day }, факт ({ $subject }): «{ $words }»
why-day = { DATETIME($date, dateStyle: "long") }
why-me = я
why-somebody = кто-то

why-origin =
    { $origin ->
        [forwarded] { $writer }, пересланное
        [imported] { $writer }, перенесённое
        [via_bot] { $writer }, через другого бота
       *[attached] { $writer }, вложение
    }

why-more =
    { $count ->
        [one] И ещё { $count } сообщение.
        [few] И ещё { $count } сообщения.
       *[other] И ещё { $count } сообщений.
    }

why-forgotten =
    { $count ->
        [one] { $count } сообщение с тех пор забыто.
        [few] { $count } сообщения с тех пор забыты.
       *[other] { $count } сообщений с тех пор забыто.
    }

why-facts-forgotten =
    { $count ->
        [one] { $count } факт с тех пор забыт.
        [few] { $count } факта с тех пор забыты.
       *[other] { $count } фактов с тех пор забыто.
    }

why-nothing-recalled = Из памяти: ничего.
why-also = Ещё я прочитал: { $things }.

why-window =
    { $count ->
        [one] { $count } последнее сообщение нашего разговора
        [few] { $count } последних сообщения нашего разговора
       *[other] { $count } последних сообщений нашего разговора
    }

why-summary = краткий пересказ нашего прежнего разговора

why-standing =
    { $count ->
        [one] { $count } постоянное пожелание
        [few] { $count } постоянных пожелания
       *[other] { $count } постоянных пожеланий
    }

why-tools = Инструменты: { $tools }.
why-tool-failed = { $tool } (с ошибкой)
why-no-room = Не поместилось: { $things }.
why-too-old = Не вошло, потому что слишком старое: { $things }.
why-tokens = Модель: { $models }. Прочитано: { $read }. Написано: { $written }.
why-cost = Стоимость: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = Это не мой ответ, или я его забыл. Ответьте командой /why на один из моих ответов.
why-none = В этом разговоре я ещё ничего не отвечал.
why-no-receipt = Подробностей об этом ответе у меня нет. Я храню их не дольше 30 дней.
