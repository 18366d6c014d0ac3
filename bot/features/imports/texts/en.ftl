help-import = /import — bring your history from Telegram, ChatGPT or Claude
menu-import = Bring your history from Telegram, ChatGPT or Claude
import-private = I import histories in our private chat only. Send me the file there.

import-how =
    Send me the history as a file: result.json from Telegram Desktop, or conversations.json from ChatGPT or Claude. It may be in a zip, up to { $limit } MB.

    I keep each message with its date and writer, below what we've said here.

import-offer =
    { $count ->
        [one] This is a history from { $service } with { $count } message. Shall I import it into my memory of this chat?
       *[other] This is a history from { $service } with { $count } messages. Shall I import it into my memory of this chat?
    }

import-button =
    { $count ->
        [one] Import { $count } message
       *[other] Import { $count } messages
    }

import-progress = Importing: { $done } of { $count }. Send /stop to cancel.

import-done =
    { $count ->
        [0] I already knew all of this history from { $service }.
        [one] I've imported { $count } message from { $service }. I'll be able to search it in a moment.
       *[other] I've imported { $count } messages from { $service }. I'll be able to search them in a moment.
    }

import-known =
    { $count ->
        [one] { $count } message was here already.
       *[other] { $count } messages were here already.
    }

import-stays-forgotten =
    { $count ->
        [one] { $count } message had been forgotten here before, and stays forgotten.
       *[other] { $count } messages had been forgotten here before, and stay forgotten.
    }

import-all-forgotten = I've imported nothing: this history from { $service } was forgotten here before, and what is forgotten doesn't come back.

import-line = • { $service }, { DATETIME($date, dateStyle: "long") }: { $count }
import-forget-button = Forget this import: { $service }, { $count }
import-forgotten = I've forgotten that import.
import-cancelled = I've cancelled the import and kept none of it.
import-paused = The import isn't finished. Press the button and I'll go on from there.
import-gone = I can't get that file any more. Please send it again.
import-too-large = Telegram lets me fetch files of up to { $limit } MB, and this one is larger. If it's a history, send me only its JSON file in a zip, or export a shorter period.
import-own = This is an export of my own memory. I can't import it here. Whoever runs me can restore it into an empty chat with { $command }.
import-unknown = I don't know any history in this zip. I can import result.json from Telegram Desktop, and conversations.json from ChatGPT or Claude.
import-bad = I can't read this history: the file is damaged, protected or far too large when unpacked. Nothing was imported. Please export it again.
import-empty = This history from { $service } has no messages.

import-cut =
    { $count ->
        [one] This file ends in the middle, after { $count } message. Nothing was imported. Please export it again.
       *[other] This file ends in the middle, after { $count } messages. Nothing was imported. Please export it again.
    }
