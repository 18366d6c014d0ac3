help-model = /model — ver qué modelo responde aquí y elegir otro
menu-model = Ver qué modelo responde aquí y elegir otro
model-current = Aquí mis respuestas vienen de { $model }.

model-choose =
    { $place ->
        [group] Los administradores pueden tocar un modelo para cambiarlo.
       *[private] Toca un modelo para cambiarlo.
    }

model-unknown = No tengo ningún modelo llamado { $model }. Envía /model para ver los que puedes elegir.

# The answer of a turn whose model is gone ends with this.
model-missing = { $model } no está disponible, así que ha respondido { $other }.
