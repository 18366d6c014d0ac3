help-model = /model — see which model answers here, and choose another
menu-model = See which model answers here, and choose another
model-current = My answers here come from { $model }.

model-choose =
    { $place ->
        [group] Administrators can tap a model to change that.
       *[private] Tap a model to change that.
    }

model-unknown = I don't have a model named { $model }. Send /model to see the models you can choose.

# The answer of a turn whose model is gone ends with this.
model-missing = { $model } is not available, so { $other } answered.
