help-memory = { $place ->
    [group] /memory — показать, что я помню из этой группы или темы
   *[private] /memory — показать, что я помню из этого чата
 }

menu-memory = Показать, что я помню из этого чата
memory-nothing = Из этого чата я ничего не помню.

memory-messages =
    { $count ->
        [0] Из этого чата я не помню ни одного сообщения.
        [one] Я помню { $count } сообщение из этого чата, начиная с { DATETIME($since, dateStyle: "long") }
        [few] Я помню { $count } сообщения из этого чата, начиная с { DATETIME($since, dateStyle: "long") }
       *[other] Я помню { $count } сообщений из этого чата, начиная с { DATETIME($since, dateStyle: "long") }
    }

memory-conversation =
    { $count ->
        [one] Из них { $count } относится к нынешнему разговору.
        [few] Из них { $count } относятся к нынешнему разговору.
       *[other] Из них { $count } относятся к нынешнему разговору.
    }

memory-searchable =
    { $count ->
        [one] Искать я могу в { $count } из них.
       *[other] Искать я могу в { $count } из них.
    }

memory-searchable-all =
    { $count ->
        [1] Я могу искать в нём.
       *[other] Я могу искать во всех.
    }

memory-unsearchable = Искать в них я сейчас не могу.
memory-also = Ещё я храню: { $things }.
memory-talk = Чтобы следить за разговором, я ненадолго сохраняю ещё: { $things }.
memory-agent = Этот чат перешёл к агенту { $agent }, здесь отвечает он.
memory-erasing = Чтобы стереть одно сообщение, ответьте на него командой /forget. Чтобы стереть всё, отправьте /reset.
memory-summary = Краткий пересказ нашего предыдущего разговора:
memory-open = Открыть память
