help-reminders = /reminders — see the reminders of this chat, and cancel them
help-timezone = /timezone — see or change your time zone, which I need for reminders
menu-reminders = See the reminders of this chat, and cancel them
menu-timezone = See or change your time zone
reminder-when = { DATETIME($date, dateStyle: "long") }, { $time }

reminder-when-repeated = { $when } ({ $repeats ->
        [hourly] every hour
        [daily] every day
        [weekdays] Monday to Friday
        [weekly] every week
        [monthly] every month
        [yearly] every year
       *[other] repeats
    })

reminder-due = ⏰ { $text }
reminder-due-group = ⏰ { $name }: { $text }
reminder-late = I'm late with this: it was due on { $when }.
reminder-missed = I couldn't send this reminder when it was due ({ $when }): { $text }
reminders-title = Reminders in this chat:
reminders-line = { $number }. { $when }: { $text }
reminders-line-by = { $number }. { $when }, { $name }: { $text }
reminders-none = There are no reminders in this chat. To get one, write for example: “Remind me in 20 minutes to water the plants.”
reminders-buttons = Press ❌ to cancel a reminder.
reminders-zone = These times are in the time zone { $zone }. To change it, send /timezone.
reminders-cancelled = Cancelled: “{ $text }”
reminders-gone = This list is out of date: that reminder was sent or cancelled. Here's what is left.
reminders-not-yours = Only the person who set this reminder and the administrators of this group can cancel it.
timezone-shown = Your time zone is { $zone }, where it's { $time } now. To change it, send for example /timezone Lisbon. To make me forget it, send /timezone off.
timezone-none = I don't know your time zone. Send me a big city in it, for example /timezone Lisbon, or send me your location as a reply to this message.
timezone-set = Your time zone is now { $zone }, where it's { $time }. Reminders that you set earlier keep their time.
timezone-off = I've forgotten your time zone.
timezone-unknown = I don't know the time zone “{ $name }”, so nothing was changed. Send me a big city in your time zone, for example /timezone Lisbon, or your offset, for example /timezone UTC+3.
timezone-choose = Which of these is your time zone?
timezone-other = None of these
timezone-help = Send me a bigger city or your country, for example /timezone Lisbon, your offset, for example /timezone UTC+3, or the time on your clock, for example /timezone 14:05.
timezone-fixed = It has no summer time. If your clock changes in summer, press a city that has your time now:
timezone-meant = If you meant another place, press it:
forgotten-reminder = I've deleted that reminder. The messages about it are still here.
