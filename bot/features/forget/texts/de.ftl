help-forget = /forget — als Antwort auf eine Nachricht: sie überall löschen
menu-forget = Als Antwort: diese Nachricht überall löschen
forget-usage = Antworte mit /forget auf die Nachricht, die ich vergessen soll, deine oder meine. Es wurde nichts geändert.
forgotten-several = Ich habe diese Nachrichten vergessen. Falls eine andere Nachricht sie wiederholt, lass mich auch die vergessen.
forgotten-unanswered = Ich habe diese Nachricht vergessen. Ich konnte sie nicht beantworten und hatte sie nur für einen neuen Versuch gespeichert.
forgotten-unkept = Ich habe diese Nachricht vergessen. Sie selbst hatte ich nicht gespeichert, aber ich habe hier anderes gelöscht, das sie erwähnte.
forget-interrupted = Ich wurde unterbrochen, deshalb habe ich vielleicht mehr gelöscht, als hier steht.
forget-doubt = Um alles zu löschen, was ich aus diesem Chat weiß, schick /reset.

forget-used =
    { $count ->
        [one] { $count } meiner Antworten hat sie verwendet und wiederholt sie vielleicht.
       *[other] { $count } meiner Antworten haben sie verwendet und wiederholen sie vielleicht.
    }

forget-used-several =
    { $count ->
        [one] { $count } meiner Antworten hat sie verwendet und wiederholt sie vielleicht.
       *[other] { $count } meiner Antworten haben sie verwendet und wiederholen sie vielleicht.
    }

forget-rests = Das gilt auch für das, was darauf beruht: { $things }.
forget-answers-button = Auch diese vergessen
