help-memory = { $place ->
    [group] /memory — ver lo que recuerdo de este grupo o tema
   *[private] /memory — ver lo que recuerdo de este chat
 }

menu-memory = Ver lo que recuerdo de este chat
memory-nothing = No recuerdo nada de este chat.

memory-messages =
    { $count ->
        [0] No recuerdo ningún mensaje de este chat.
        [one] Recuerdo { $count } mensaje de este chat, desde el { DATETIME($since, dateStyle: "long") }.
       *[other] Recuerdo { $count } mensajes de este chat, desde el { DATETIME($since, dateStyle: "long") }.
    }

memory-conversation =
    { $count ->
        [one] { $count } es de nuestra conversación actual.
       *[other] { $count } son de nuestra conversación actual.
    }

memory-searchable =
    { $count ->
        [one] Puedo buscar en { $count } de ellos.
       *[other] Puedo buscar en { $count } de ellos.
    }

memory-searchable-all =
    { $count ->
        [1] Puedo buscar en él.
       *[other] Puedo buscar en todos.
    }

memory-unsearchable = Ahora mismo no puedo buscar en ellos.
memory-also = También guardo: { $things }.
memory-talk = Para seguir la conversación, también guardo durante poco tiempo: { $things }.
memory-agent = El agente { $agent } se ha hecho cargo de este chat y contesta aquí.
memory-erasing = Para borrar un mensaje, respóndele con /forget. Para borrarlo todo, envía /reset.
memory-summary = Un resumen de nuestra conversación anterior:
memory-open = Abrir la memoria
