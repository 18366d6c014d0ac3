help-reminders = { LTR("/reminders") } — دیدن یادآوری‌های این گفتگو و لغو آن‌ها
help-timezone = { LTR("/timezone") } — دیدن یا تغییر منطقهٔ زمانی شما که برای یادآوری‌ها لازم دارم
menu-reminders = دیدن یادآوری‌های این گفتگو و لغو آن‌ها
menu-timezone = دیدن یا تغییر منطقهٔ زمانی شما
reminder-when = { JALALI($date) }، { LTR($time) }

reminder-when-repeated = { $when } ({ $repeats ->
        [hourly] هر ساعت
        [daily] هر روز
        [weekdays] دوشنبه تا جمعه
        [weekly] هر هفته
        [monthly] هر ماه
        [yearly] هر سال
       *[other] تکرار می‌شود
    })

reminder-due = ⏰ { $text }
reminder-due-group = ⏰ { $name }: { $text }
reminder-late = دیر شد: وقت این یادآوری { $when } بود.
reminder-missed = نتوانستم این یادآوری را سر وقتش ({ $when }) بفرستم: { $text }
reminders-title = یادآوری‌های این گفتگو:
reminders-line = { DIGITS($number) }. { $when }: { $text }
reminders-line-by = { DIGITS($number) }. { $when }، { $name }: { $text }
reminders-none = در این گفتگو یادآوری‌ای نیست. برای گذاشتن یادآوری مثلاً بنویسید: «۲۰ دقیقهٔ دیگر یادم بینداز به گل‌ها آب بدهم.»
reminders-buttons = با ❌ یک یادآوری را لغو کنید.
reminders-zone = این وقت‌ها در منطقهٔ زمانی { LTR($zone) } هستند. { LTR("/timezone") } آن را عوض می‌کند.
reminders-cancelled = لغو شد: «{ $text }»
reminders-gone = این فهرست قدیمی شده است: آن یادآوری فرستاده یا لغو شده است. این چیزی است که مانده.
reminders-not-yours = فقط کسی که این یادآوری را گذاشته و مدیران این گروه می‌توانند آن را لغو کنند.
timezone-shown = منطقهٔ زمانی شما { LTR($zone) } است و آنجا اکنون ساعت { LTR($time) } است. برای تغییر آن مثلاً { LTR("/timezone Tehran") } را بفرستید. با { LTR("/timezone off") } آن را فراموش می‌کنم.
timezone-none = منطقهٔ زمانی شما را نمی‌دانم. نام شهر بزرگی از آن را بفرستید، مثلاً { LTR("/timezone") } تهران، یا در پاسخ به این پیام موقعیت مکانی خود را بفرستید.
timezone-set = منطقهٔ زمانی شما اکنون { LTR($zone) } است و آنجا ساعت { LTR($time) } است. وقت یادآوری‌های پیشین عوض نمی‌شود.
timezone-off = منطقهٔ زمانی شما را فراموش کردم.
timezone-unknown = منطقهٔ زمانی «{ $name }» را نمی‌شناسم، پس چیزی تغییر نکرد. نام شهر بزرگی از منطقهٔ زمانی خود را بفرستید، مثلاً { LTR("/timezone") } تهران، یا اختلاف ساعت خود را، مثلاً { LTR("/timezone UTC+3:30") }.
timezone-choose = کدام یک از این‌ها منطقهٔ زمانی شماست؟
timezone-other = هیچ‌کدام از این‌ها
timezone-help = نام شهری بزرگ‌تر یا کشور خود را بفرستید، مثلاً { LTR("/timezone") } تهران، یا اختلاف ساعت خود را، مثلاً { LTR("/timezone UTC+3:30") }، یا ساعت کنونی خود را، مثلاً { LTR("/timezone 14:05") }.
timezone-fixed = این منطقه ساعت تابستانی ندارد. اگر ساعت شما در تابستان عوض می‌شود، شهری را بزنید که اکنون ساعت شما را دارد:
timezone-meant = اگر منظورتان جای دیگری بود، آن را بزنید:
forgotten-reminder = آن یادآوری را پاک کردم. پیام‌های مربوط به آن سر جایشان هستند.
