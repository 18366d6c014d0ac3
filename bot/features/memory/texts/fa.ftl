help-memory = { $place ->
    [group] { LTR("/memory") } — دیدن آنچه از این گروه یا موضوع به یاد دارم
   *[private] { LTR("/memory") } — دیدن آنچه از این گفتگو به یاد دارم
 }

menu-memory = دیدن آنچه از این گفتگو به یاد دارم
memory-nothing = از این گفتگو چیزی به یاد ندارم.

memory-messages =
    { $count ->
        [0] از این گفتگو هیچ پیامی به یاد ندارم.
       *[other] { DIGITS($count) } پیام از این گفتگو به یاد دارم، از { JALALI($since) }.
    }

memory-conversation = { DIGITS($count) } تای آن‌ها در گفتگوی کنونی ماست.
memory-searchable = می‌توانم در { DIGITS($count) } تای آن‌ها جستجو کنم.

memory-searchable-all =
    { $count ->
        [1] می‌توانم در آن جستجو کنم.
       *[other] می‌توانم در همهٔ آن‌ها جستجو کنم.
    }

memory-unsearchable = الان نمی‌توانم در آن‌ها جستجو کنم.
memory-also = همچنین نگه داشته‌ام: { $things }.
memory-talk = برای دنبال کردن گفتگو، مدت کوتاهی این را هم نگه می‌دارم: { $things }.
memory-agent = عامل { $agent } این گفتگو را به عهده گرفته است و اینجا پاسخ می‌دهد.
memory-erasing = برای پاک کردن یک پیام، با { LTR("/forget") } به آن پاسخ دهید. برای پاک کردن همه چیز، { LTR("/reset") } را بفرستید.
memory-summary = خلاصه‌ای از گفتگوی پیشین ما:
memory-open = باز کردن حافظه
