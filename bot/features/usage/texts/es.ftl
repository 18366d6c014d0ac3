help-usage = /usage — ver el uso de hoy y los límites
help-stats = /stats — ver cuántos chats hay, la cola y el uso de hoy; /stats month: el uso de un mes
menu-usage = Ver el uso de hoy y los límites
menu-stats = Para operadores: chats, cola y uso
stats-contexts = Chats y temas: { $count }.

stats-queue =
    { $count ->
        [0] La cola está vacía.
       *[other] En la cola: { $count }. El más antiguo lleva esperando { $oldest }.
    }

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
