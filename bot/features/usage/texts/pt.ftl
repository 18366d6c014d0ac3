help-usage = /usage — ver o uso de hoje e os limites
help-stats = /stats — ver quantos chats há, a fila e o uso de hoje; /stats month: o uso de um mês
menu-usage = Ver o uso de hoje e os limites
menu-stats = Para operadores: chats, fila e uso
stats-contexts = Chats e tópicos: { $count }.

stats-queue =
    { $count ->
        [0] A fila está vazia.
       *[other] Na fila: { $count }. A mensagem mais antiga espera há { $oldest }.
    }

costs-title = Uso em { $month } (UTC):
costs-none = Nada foi usado em { $month } (UTC).
costs-used = { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = Desse total, resumos e fatos usaram { $used }.
costs-budget = Orçamento por mês: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = Pessoas que mais usaram:
costs-chats = Chats que mais usaram:
costs-line = { $number }. { $name }: { $used }
costs-in-private = Para ver pessoas e chats, envie este comando no privado.
costs-usage = Envie /stats month para ver este mês ou /stats month { $month } para ver um mês anterior. Guardo 13 meses.
