help-import = { LTR("/import") } — آوردن تاریخچه‌تان از تلگرام، ChatGPT یا Claude
menu-import = آوردن تاریخچه از تلگرام، ChatGPT یا Claude
import-private = تاریخچه را فقط در گفت‌وگوی خصوصی‌مان وارد می‌کنم. فایل را آنجا بفرستید.

import-how =
    تاریخچه را به‌صورت فایل بفرستید: { LTR("result.json") } از Telegram Desktop، یا { LTR("conversations.json") } از ChatGPT یا Claude. می‌تواند در یک zip باشد، تا { $limit } مگابایت.

    هر پیام با تاریخ و نویسنده‌اش، پایین‌تر از گفته‌های ما در اینجا نگه داشته می‌شود.

import-offer =
    { $count ->
       *[other] این تاریخچه‌ای از { $service } با { $count } پیام است. آن را به حافظه‌ام از این گفت‌وگو اضافه کنم؟
    }

import-button =
    { $count ->
       *[other] وارد کردن { $count } پیام
    }

import-progress = در حال وارد کردن: { $done } از { $count }. برای لغو { LTR("/stop") } را بفرستید.

import-done =
    { $count ->
        [0] همهٔ این تاریخچهٔ { $service } را از پیش می‌دانستم.
       *[other] { $count } پیام از { $service } وارد شد. به‌زودی می‌توانم در آن‌ها جست‌وجو کنم.
    }

import-known =
    { $count ->
       *[other] { $count } پیام از پیش اینجا بود.
    }

import-stays-forgotten =
    { $count ->
       *[other] { $count } پیام پیش‌تر در اینجا فراموش شده بود و فراموش‌شده می‌ماند.
    }

import-all-forgotten = چیزی وارد نشد: این تاریخچهٔ { $service } پیش‌تر در اینجا فراموش شده است و آنچه فراموش شود برنمی‌گردد.

import-line = • { $service }، { DATETIME($date, dateStyle: "long") }: { $count }
import-forget-button = فراموش کردن این تاریخچه: { $service }، { $count }
import-forgotten = آن تاریخچه را فراموش کردم.
import-cancelled = وارد کردن را لغو کردم و چیزی از آن نگه نداشتم.
import-paused = وارد کردن هنوز تمام نشده است. دکمه را بزنید تا از همان‌جا ادامه دهم.
import-gone = دیگر به آن فایل دسترسی ندارم. لطفاً دوباره بفرستیدش.
import-too-large = تلگرام فایل‌های تا { $limit } مگابایت را به من می‌دهد و این فایل بزرگ‌تر است. اگر تاریخچه است، فقط فایل JSON آن را در یک zip بفرستید یا دورهٔ کوتاه‌تری را خروجی بگیرید.
import-own = این خروجی حافظهٔ خود من است و فقط یکجا به گفت‌وگویی خالی برمی‌گردد: کسی که مرا اداره می‌کند می‌تواند این کار را با { LTR($command) } انجام دهد.
import-unknown = در این zip تاریخچه‌ای نمی‌شناسم. می‌توانم { LTR("result.json") } از Telegram Desktop و { LTR("conversations.json") } از ChatGPT یا Claude را وارد کنم.
import-bad = این تاریخچه را نمی‌توانم بخوانم: فایل خراب یا رمزدار است یا پس از باز شدن بیش از حد بزرگ می‌شود. چیزی وارد نشد. لطفاً دوباره خروجی بگیرید.
import-empty = این تاریخچهٔ { $service } پیامی ندارد.

import-cut =
    { $count ->
       *[other] این فایل پس از { $count } پیام ناتمام می‌ماند. چیزی وارد نشد. لطفاً دوباره خروجی بگیرید.
    }
