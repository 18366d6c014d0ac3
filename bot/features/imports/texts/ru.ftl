help-import = /import — перенести вашу историю из Telegram, ChatGPT или Claude
menu-import = Перенести историю из Telegram, ChatGPT или Claude
import-private = Историю я переношу только в нашем личном чате. Пришлите файл туда.

import-how =
    Пришлите историю файлом: result.json из Telegram Desktop или conversations.json из ChatGPT или Claude. Можно в архиве zip, до { $limit } МБ.

    Каждое сообщение сохранит дату и автора и встанет ниже того, что мы писали здесь.

import-offer =
    { $count ->
        [one] Это история из { $service }: { $count } сообщение. Перенести её в мою память об этом чате?
        [few] Это история из { $service }: { $count } сообщения. Перенести её в мою память об этом чате?
       *[other] Это история из { $service }: { $count } сообщений. Перенести её в мою память об этом чате?
    }

import-button =
    { $count ->
        [one] Перенести { $count } сообщение
        [few] Перенести { $count } сообщения
       *[other] Перенести { $count } сообщений
    }

import-progress = Переношу: { $done } из { $count }. Чтобы отменить, отправьте /stop.

import-done =
    { $count ->
        [0] Всю эту историю из { $service } я уже помню.
        [one] Перенесено { $count } сообщение из { $service }. Скоро я смогу по нему искать.
        [few] Перенесены { $count } сообщения из { $service }. Скоро я смогу по ним искать.
       *[other] Перенесено { $count } сообщений из { $service }. Скоро я смогу по ним искать.
    }

import-known =
    { $count ->
        [one] { $count } сообщение здесь уже было.
        [few] { $count } сообщения здесь уже были.
       *[other] { $count } сообщений здесь уже было.
    }

import-line = • { $service }, { DATETIME($date, dateStyle: "long") }: { $count }
import-forget-button = Забыть эту историю: { $service }, { $count }
import-forgotten = Перенесённая история забыта.
import-cancelled = Перенос отменён, ничего из него не осталось.
import-paused = Перенос ещё не закончен. Нажмите кнопку, и я продолжу с того же места.
import-gone = Этот файл мне больше недоступен. Пришлите его ещё раз.
import-too-large = Telegram отдаёт мне файлы до { $limit } МБ, а этот больше. Если это история, пришлите только её файл JSON в архиве zip или выгрузите более короткий период.
import-unknown = В этом архиве нет знакомой мне истории. Я переношу result.json из Telegram Desktop и conversations.json из ChatGPT или Claude.
import-bad = Эту историю не прочитать: файл повреждён, защищён паролем или слишком велик после распаковки. Ничего не перенесено. Выгрузите её ещё раз.
import-empty = В этой истории из { $service } нет сообщений.

import-cut =
    { $count ->
        [one] Этот файл обрывается после { $count } сообщения. Ничего не перенесено. Выгрузите историю ещё раз.
       *[other] Этот файл обрывается после { $count } сообщений. Ничего не перенесено. Выгрузите историю ещё раз.
    }
