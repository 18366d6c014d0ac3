help-model = { LTR("/model") } — دیدن مدلی که اینجا پاسخ می‌دهد، و انتخاب مدلی دیگر
menu-model = دیدن مدلی که اینجا پاسخ می‌دهد، و انتخاب مدلی دیگر
model-current = پاسخ‌های من در اینجا از { $model } است.

model-choose =
    { $place ->
        [group] مدیران می‌توانند با لمس یک مدل آن را تغییر دهند.
       *[private] برای تغییر، یک مدل را لمس کنید.
    }

model-unknown = مدلی به نام { $model } ندارم. برای دیدن مدل‌هایی که می‌توانید انتخاب کنید، { LTR("/model") } را بفرستید.

# The answer of a turn whose model is gone ends with this.
model-missing = { $model } در دسترس نیست، پس { $other } پاسخ داد.
