help-why = /why — respondiendo a una respuesta mía: ver en qué se basa
menu-why = Respondiendo a una respuesta mía: ver en qué se basa

count-memories =
    { $count ->
        [one] { $count } recuerdo
       *[other] { $count } recuerdos
    }

count-other-things =
    { $count ->
        [one] { $count } cosa más
       *[other] { $count } cosas más
    }

why-title =
    { $which ->
        [last] En qué se basa mi última respuesta:
       *[this] En qué se basa esa respuesta:
    }

why-memories = De la memoria:
why-memory = • { $day }, { $writer }: «{ $words }»
why-fact = • { $day }, sobre { $subject }: «{ $words }»
why-day = { DATETIME($date, dateStyle: "long") }
why-me = yo
why-somebody = alguien

why-origin =
    { $origin ->
        [forwarded] { $writer }, reenviado
        [imported] { $writer }, importado
        [via_bot] { $writer }, a través de otro bot
       *[attached] { $writer }, adjunto
    }

why-more =
    { $count ->
        [one] Y { $count } mensaje más.
       *[other] Y { $count } mensajes más.
    }

why-forgotten =
    { $count ->
        [one] { $count } mensaje ya está olvidado.
       *[other] { $count } mensajes ya están olvidados.
    }

why-facts-forgotten =
    { $count ->
        [one] { $count } dato ya está olvidado.
       *[other] { $count } datos ya están olvidados.
    }

why-nothing-recalled = De la memoria: nada.
why-also = También leí: { $things }.

why-window =
    { $count ->
        [one] el último mensaje de nuestra conversación
       *[other] los últimos { $count } mensajes de nuestra conversación
    }

why-summary = un resumen de nuestra conversación anterior

why-standing =
    { $count ->
        [one] un deseo permanente
       *[other] { $count } deseos permanentes
    }

why-tools = Herramientas: { $tools }.
why-tool-failed = { $tool } (falló)
why-no-room = Omitido por falta de espacio: { $things }.
why-too-old = Omitido por ser demasiado antiguo: { $things }.
why-tokens = Modelo: { $models }. Leído: { $read }. Escrito: { $written }.
why-cost = Coste: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = Ese mensaje no es una respuesta mía, o la he olvidado. Responde con /why a una de mis respuestas.
why-none = Todavía no he respondido nada en esta conversación.
why-no-receipt = No tengo los detalles de esa respuesta. Los guardo 30 días como máximo.
