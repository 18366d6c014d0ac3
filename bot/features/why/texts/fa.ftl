help-why = { LTR("/why") } — در پاسخ به یکی از پاسخ‌هایم: دیدن اینکه بر چه پایه‌ای نوشته شده است
menu-why = در پاسخ به یکی از پاسخ‌هایم: دیدن اینکه بر چه پایه‌ای نوشته شده است
count-memories = { DIGITS($count) } خاطره
count-other-things = { DIGITS($count) } چیز دیگر

why-title =
    { $which ->
        [last] پایهٔ آخرین پاسخ من این‌ها بود:
       *[this] پایهٔ آن پاسخ این‌ها بود:
    }

why-memories = از حافظه:
why-memory = • { $day }، { $writer }: «{ $words }»
why-fact = • { $day }، دربارهٔ { $subject }: «{ $words }»
why-day = { JALALI($date) }
why-me = من
why-somebody = کسی

why-origin =
    { $origin ->
        [forwarded] { $writer }، هدایت‌شده
        [imported] { $writer }، واردشده
        [via_bot] { $writer }، از راه رباتی دیگر
       *[attached] { $writer }، پیوست
    }

why-more = و { DIGITS($count) } پیام دیگر.
why-forgotten = از آن زمان { DIGITS($count) } پیام فراموش شده است.
why-facts-forgotten = از آن زمان { DIGITS($count) } دانسته فراموش شده است.
why-nothing-recalled = از حافظه: هیچ.
why-also = این‌ها را هم خواندم: { $things }.
why-window = { DIGITS($count) } پیام آخر گفتگوی ما
why-summary = خلاصهٔ گفتگوی پیشین ما
why-standing = { DIGITS($count) } خواستهٔ همیشگی
why-tools = ابزارها: { $tools }.
why-tool-failed = { $tool } (ناموفق)
why-no-room = برای کمبود جا کنار گذاشته شد: { $things }.
why-too-old = چون قدیمی بود کنار گذاشته شد: { $things }.
why-tokens = مدل: { $models }. خوانده شد: { $read }. نوشته شد: { $written }.
why-cost = هزینه: { DIGITS($money) }.
why-no-answer = آن پیام پاسخ من نیست یا فراموشش کرده‌ام. با { LTR("/why") } به یکی از پاسخ‌هایم پاسخ دهید.
why-none = هنوز در این گفتگو پاسخی نداده‌ام.
why-no-receipt = جزئیات آن پاسخ را ندارم. آن‌ها را حداکثر ۳۰ روز نگه می‌دارم.
