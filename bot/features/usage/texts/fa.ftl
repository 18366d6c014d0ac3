help-usage = { LTR("/usage") } — دیدن مصرف امروز و سقف‌ها
help-stats = { LTR("/stats") } — دیدن شمار گفتگوها، صف و مصرف امروز؛ { LTR("/stats month") }: مصرف یک ماه
menu-usage = مصرف امروز و سقف‌ها
menu-stats = برای گردانندگان: گفتگوها، صف و مصرف
stats-contexts = گفتگوها و موضوع‌ها: { DIGITS($count) }.

stats-queue =
    { $count ->
        [0] صف خالی است.
       *[other] در صف: { DIGITS($count) }. قدیمی‌ترین پیام از { $oldest } پیش منتظر است.
    }

costs-title = مصرف ماه { LTR($month) } ({ LTR("UTC") }):
costs-none = در ماه { LTR($month) } ({ LTR("UTC") }) چیزی مصرف نشده است.
costs-used = { $tokens }، هزینه { DIGITS($money) }
costs-memory = از این مقدار برای خلاصه‌ها و دانسته‌ها: { $used }.
costs-budget = بودجهٔ هر ماه: { DIGITS($limit) }.
costs-people = افراد با بیشترین مصرف:
costs-chats = گفتگوها با بیشترین مصرف:
costs-line = { DIGITS($number) }. { $name }: { $used }
costs-in-private = برای دیدن افراد و گفتگوها این دستور را در گفتگوی خصوصی برایم بفرستید.
costs-usage = برای دیدن این ماه { LTR("/stats month") } و برای دیدن ماهی پیش از آن { LTR("/stats month") } { LTR($month) } را بفرستید. ۱۳ ماه را نگه می‌دارم.
