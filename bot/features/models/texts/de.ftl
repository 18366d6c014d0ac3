help-model = /model — zeigen, welches Modell hier antwortet, und ein anderes wählen
menu-model = Zeigen, welches Modell hier antwortet, und ein anderes wählen
model-current = Meine Antworten kommen hier von { $model }.

model-choose =
    { $place ->
        [group] Administratoren können auf ein Modell tippen, um das zu ändern.
       *[private] Tippe auf ein Modell, um das zu ändern.
    }

model-unknown = Ich habe kein Modell namens { $model }. Mit /model siehst du, welche du wählen kannst.

# The answer of a turn whose model is gone ends with this.
model-missing = { $model } ist nicht verfügbar, deshalb hat { $other } geantwortet.
