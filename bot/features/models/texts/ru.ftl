help-model = /model — показать, какая модель здесь отвечает, и выбрать другую
menu-model = Показать, какая модель здесь отвечает, и выбрать другую
model-current = Здесь отвечает модель { $model }.

model-choose =
    { $place ->
        [group] Администраторы могут сменить её: для этого нужно нажать на другую.
       *[private] Чтобы сменить её, нажмите на другую.
    }

model-unknown = Модели { $model } у меня нет. Отправьте /model, чтобы увидеть, какие можно выбрать.

# The answer of a turn whose model is gone ends with this.
model-missing = Модель { $model } недоступна, поэтому ответила { $other }.
