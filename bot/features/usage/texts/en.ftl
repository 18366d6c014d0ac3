help-usage = /usage — see today's usage and the limits
help-stats = /stats — see the number of chats, the queue and today's usage; /stats month: a month's usage
menu-usage = See today's usage and the limits
menu-stats = For operators: chats, queue and usage
stats-contexts = Chats and topics: { $count }.

stats-queue =
    { $count ->
        [0] The queue is empty.
       *[other] In the queue: { $count }. The oldest has been waiting for { $oldest }.
    }

costs-title = Usage in { $month } (UTC):
costs-none = Nothing was used in { $month } (UTC).
costs-used = { $tokens }, cost { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = Of that, summaries and facts took { $used }.
costs-budget = Budget for a month: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = People who used the most:
costs-chats = Chats that used the most:
costs-line = { $number }. { $name }: { $used }
costs-in-private = To see people and chats, send me this command in private.
costs-usage = Send /stats month to see this month, or /stats month { $month } to see an earlier one. I keep 13 months.
