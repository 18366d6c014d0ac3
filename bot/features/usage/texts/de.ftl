help-usage = /usage — den heutigen Verbrauch und die Limits zeigen
help-stats = /stats — die Zahl der Chats, die Warteschlange und den heutigen Verbrauch zeigen; /stats month: der Verbrauch eines Monats
menu-usage = Heutiger Verbrauch und Limits
menu-stats = Für Betreiber: Chats, Warteschlange und Verbrauch
stats-contexts = Chats und Themen: { $count }.

stats-queue =
    { $count ->
        [0] Die Warteschlange ist leer.
       *[other] In der Warteschlange: { $count }. Der älteste Eintrag wartet seit { $oldest }.
    }

costs-title = Verbrauch im Monat { $month } (UTC):
costs-none = Im Monat { $month } (UTC) wurde nichts verbraucht.
costs-used = { $tokens }, Kosten { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = Davon für Zusammenfassungen und Fakten: { $used }.
costs-budget = Budget pro Monat: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = Personen mit dem höchsten Verbrauch:
costs-chats = Chats mit dem höchsten Verbrauch:
costs-line = { $number }. { $name }: { $used }
costs-in-private = Schick mir diesen Befehl privat, um Personen und Chats zu sehen.
costs-usage = Schick /stats month für diesen Monat oder /stats month { $month } für einen früheren. Ich hebe die Zahlen 13 Monate auf.
