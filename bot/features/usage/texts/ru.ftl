help-usage = /usage — показать расход за сегодня и лимиты
help-stats = /stats — показать число чатов, очередь и расход за сегодня; /stats month: расход за месяц
menu-usage = Расход за сегодня и лимиты
menu-stats = Для операторов: чаты, очередь и расход
stats-contexts = Чаты и темы: { $count }.

stats-queue =
    { $count ->
        [0] Очередь пуста.
       *[other] В очереди: { $count }. Самое старое сообщение ждёт { $oldest }.
    }

costs-title = Расход за { $month } (UTC):
costs-none = За { $month } (UTC) ничего не израсходовано.
costs-used = { $tokens }, стоимость { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = Из них на пересказы и факты: { $used }.
costs-budget = Бюджет на месяц: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = Кто израсходовал больше всего:
costs-chats = Чаты с наибольшим расходом:
costs-line = { $number }. { $name }: { $used }
costs-in-private = Чтобы увидеть людей и чаты, отправьте мне эту команду в личном чате.
costs-usage = Отправьте /stats month, чтобы увидеть этот месяц, или /stats month { $month }, чтобы увидеть один из прошлых. Данные я храню 13 месяцев.
