# Textos do bot em português. Cada chave está no arquivo de cada idioma, com as mesmas variáveis.

## /start e /help

start-private =
    Olá! Sou um assistente que se lembra do que você me conta.
    Conte o que quiser e pergunte sobre isso mais tarde.
start-group =
    Olá! Sou um assistente que se lembra deste grupo.
    Respondam às minhas mensagens ou me mencionem, e eu respondo.
start-erasing = O que é dito aqui fica neste chat, e /reset apaga tudo.
start-offline = No momento não há um modelo de linguagem por trás de mim, então não consigo conversar livremente. Mas eu me lembro do que você me conta e cito isso quando você pergunta.
start-offline-operator = Para operadores: defina OPENAI_API_KEY para ter respostas de verdade.
start-button = O que você sabe fazer?
start-page =
    Toque no botão para abrir a memória do seu grupo. { $viewers ->
        [members] Só os membros do grupo podem vê-la.
       *[administrators] Só os administradores do grupo podem vê-la.
    }
start-page-off = A página de memória dos grupos está desativada, por isso não posso abri-la.
help-private = Eu me lembro do que você me conta neste chat. Nunca uso isso em outros chats.
help-group = Respondo quando vocês respondem às minhas mensagens, me mencionam ou me enviam um comando. O que sei deste grupo fica aqui, e cada tópico tem sua própria memória.
help-administrators = Para administradores, que também podem usar /forget nas mensagens de outras pessoas:
help-operators = Para os operadores deste bot:
help-editing = Se você editar uma mensagem, vou me lembrar do texto novo no lugar do antigo.

help-new = /new — começar uma conversa nova; ainda posso pesquisar nas anteriores
help-catchup = /catchup — ver o que foi dito desde que você escreveu pela última vez; ou /catchup 2h, /catchup 10:00, /catchup 50
help-memory = { $place ->
    [group] /memory — ver o que lembro deste grupo ou tópico
   *[private] /memory — ver o que lembro deste chat
 }
help-facts = /facts — ver o que sei sobre você, e apagar ou corrigir
help-reminders = /reminders — ver os lembretes deste chat e cancelá-los
help-timezone = /timezone — ver ou mudar o seu fuso horário, que uso nos lembretes
help-why = /why — respondendo a uma resposta minha: ver em que ela se baseia
help-forget = /forget — respondendo a uma mensagem: apagá-la de todos os lugares
help-reset = { $place ->
    [group]
        /reset — apagar tudo o que lembro deste grupo ou tópico
        /reset all — o mesmo para todos os tópicos do grupo
   *[private] /reset — apagar tudo o que lembro deste chat
 }
help-stop = /stop — parar a resposta que estou escrevendo
help-model = /model — ver qual modelo responde aqui e escolher outro
help-voice = /voice — escolher quando respondo com mensagens de voz
help-usage = /usage — ver o uso de hoje e os limites
help-help = /help — mostrar este texto
help-stats = /stats — ver quantos chats há, a fila e o uso de hoje; /stats month: o uso de um mês
help-operators-reset = /reset -1001234 — apagar tudo o que lembro do chat com este ID

## Menu de comandos (no máximo 256 caracteres)

menu-help = O que sei fazer
menu-new = Começar uma conversa nova; ainda posso pesquisar nas anteriores
menu-catchup = Ver o que foi dito desde que você escreveu pela última vez
menu-memory = Ver o que lembro deste chat
menu-facts = Ver o que sei sobre você, e apagar ou corrigir
menu-reminders = Ver os lembretes deste chat e cancelá-los
menu-timezone = Ver ou mudar o seu fuso horário
menu-why = Respondendo a uma resposta minha: ver em que ela se baseia
menu-forget = Respondendo a uma mensagem: apagá-la de todos os lugares
menu-reset = Apagar tudo o que lembro deste chat
menu-stop = Parar a resposta que estou escrevendo
menu-model = Ver qual modelo responde aqui e escolher outro
menu-voice = Escolher quando respondo com mensagens de voz
menu-usage = Ver o uso de hoje e os limites
menu-stats = Para operadores: chats, fila e uso

## Respostas

nothing-to-show = A resposta do modelo de linguagem não tinha nada que eu possa mostrar. Pergunte de outra forma, por favor.
stopped = Parei.
stopped-sending = Parei. Não vou enviar o resto dessa resposta.
stopped-mark = interrompida
cut-length = cortada: limite do modelo
cut-filter = cortada pelo filtro do modelo
nothing-to-stop = Não há nada para parar: não estou escrevendo nenhuma resposta.
unreadable = Não consigo ler este tipo de mensagem. Escreva em texto, por favor.
unknown-command = Não conheço o comando { $name }. Envie /help para ver o que sei fazer.
new-conversation = Começamos uma conversa nova. Ainda me lembro das anteriores e posso pesquisar nelas.

## Falhas

buried = Não consegui terminar minha resposta a uma mensagem anterior, embora tenha tentado várias vezes. Deixei a mensagem separada para o operador e sigo com a próxima.
buried-edit = Você editou uma mensagem, mas não consegui salvar o texto novo, embora tenha tentado várias vezes. Deixei a edição separada para o operador. Para apagar a mensagem, responda a ela com /forget.
failure-model-unavailable = Não consigo acessar o modelo de linguagem agora. Salvei sua mensagem; pergunte de novo daqui a alguns minutos, por favor.
failure-model-quota = A cota da conta do modelo de linguagem acabou. Não posso responder até o operador resolver isso.
failure-model-refused = O modelo de linguagem recusou meu pedido, então não posso responder. O operador pode ver o motivo no log.
failure-model-filtered = O filtro de conteúdo do modelo de linguagem recusou isso, então não posso responder. Diga com outras palavras, por favor.
quoted-words = “{ $text }”
refused-messages =
    { $count ->
        [one] O filtro do modelo de linguagem recusou sua mensagem { $messages }, então a deixei fora da nossa conversa. Diga com outras palavras, por favor. Se você editar a mensagem, volto a usá-la.
       *[other] O filtro do modelo de linguagem recusou suas mensagens { $messages }, então as deixei fora da nossa conversa. Diga com outras palavras, por favor. Se você editar uma mensagem, volto a usá-la.
    }
# The answer ends with this if something else than the question was refused.
left-out =
    { $what ->
        [quote] Respondi sem a mensagem que você citou, porque o filtro do modelo de linguagem a recusou.
        [talk] Respondi sem as últimas conversas deste grupo, porque o filtro do modelo de linguagem as recusou.
        [memories] Deixei de fora algumas mensagens antigas, porque o filtro do modelo de linguagem as recusou. Não vou mais usá-las nas respostas.
       *[conversation] Deixei de fora o que tínhamos dito antes, porque o filtro do modelo de linguagem o recusou, e começamos uma conversa nova. Ainda posso pesquisar na anterior.
    }
failure-prompt-too-long = Isso é mais do que o modelo de linguagem consegue ler de uma vez. Envie em partes menores, por favor.
failure-model-silent = O modelo de linguagem deu uma resposta vazia duas vezes. Pergunte de outra forma ou tente de novo, por favor.
failure-deadline = Estava demorando demais, então parei. Tente de novo, talvez com uma pergunta menor.
failure-other = Algo deu errado, e não consegui responder. Tente de novo, por favor.

## Permissões

refused = Desculpe, não tenho permissão para falar neste chat. Não salvei nada do que você escreveu.
administrators-only = Só os administradores deste grupo podem fazer isso. Nada foi alterado.
operators-only = Só os operadores deste bot podem fazer isso. Nada foi alterado.
cannot-check = Não consegui verificar no Telegram quem administra este grupo, então nada foi alterado. Tente de novo, por favor.
others-message = Aqui você só pode me fazer esquecer as suas próprias mensagens. Os administradores também podem fazer isso com as mensagens de outras pessoas e com as minhas respostas. Nada foi alterado.
invitation-accepted = Boas-vindas! Seu convite foi aceito, e agora você pode falar comigo.
invitation-invalid = Este convite não é válido: ele não existe, já foi usado ou expirou. Peça um link novo à pessoa que convidou você, por favor.
invitation-later = Você tentou convites inválidos demais. Espere uma hora antes de tentar outro, por favor.

## Grupos

group-joined = Olá! Sou um assistente que se lembra deste grupo. O que aprendo aqui fica aqui.
group-promoted = Agora sou administrador aqui e vejo mais do que antes.
group-sees-all = Vejo todas as mensagens daqui, mas só respondo quando falam comigo.
group-sees-addressed = Só vejo as mensagens que são para mim: respostas às minhas, menções a { $bot } e comandos. Se quiserem que eu acompanhe também a conversa, me tornem administrador. Ou peçam ao meu dono que desative meu modo de privacidade (/setprivacy em @BotFather) e me adicione de novo ao grupo.
group-keeps-talk =
    { $count ->
        [one] Para entender do que vocês estão falando, também guardo a última mensagem que não é para mim, por no máximo uma semana.
       *[other] Para entender do que vocês estão falando, também guardo as últimas { $count } mensagens que não são para mim, por no máximo uma semana.
    }
group-keeps-addressed = Só guardo o que vocês me dizem e o que respondo.
group-addressing = Respondam às minhas mensagens ou mencionem { $bot }, e eu respondo. Enviem /help para ver o que sei fazer, ou /memory para ver o que lembro. Os administradores podem apagar tudo com /reset.

## Limites (wait = um dos wait-… abaixo)

limit-user-messages =
    { $limit ->
        [one] Posso responder a você uma vez por minuto
       *[other] Posso responder a você { $limit } vezes por minuto
    }, e você atingiu esse limite. Tente de novo daqui a { $wait }.
limit-chat-messages =
    { $limit ->
        [one] Neste chat posso responder uma vez por minuto
       *[other] Neste chat posso responder { $limit } vezes por minuto
    }, e esse limite foi atingido. Tente de novo daqui a { $wait }.
limit-user-tokens =
    { $limit ->
        [one] Você já usou seu { $limit } token de hoje.
       *[other] Você já usou seus { $limit } tokens de hoje.
    } Posso responder a você de novo daqui a { $wait }, quando o novo dia começa (00:00 UTC).
limit-chat-tokens =
    { $limit ->
        [one] Este chat já usou seu { $limit } token de hoje.
       *[other] Este chat já usou seus { $limit } tokens de hoje.
    } Posso responder aqui de novo daqui a { $wait }, quando o novo dia começa (00:00 UTC).
limit-user-money = Você atingiu seu limite de gastos de hoje ({ NUMBER($limit, maximumFractionDigits: 4) }). Posso responder a você de novo daqui a { $wait }, quando o novo dia começa (00:00 UTC).
limit-chat-money = Este chat atingiu seu limite de gastos de hoje ({ NUMBER($limit, maximumFractionDigits: 4) }). Posso responder aqui de novo daqui a { $wait }, quando o novo dia começa (00:00 UTC).
limit-all-money = O orçamento deste mês acabou, e por enquanto não posso responder. Volto em { DATETIME($date, dateStyle: "long") } (00:00 UTC).
budget-warning = { $percent }% do orçamento deste mês já foi usado: { NUMBER($money, maximumFractionDigits: 4) } de { NUMBER($limit, maximumFractionDigits: 4) }. Quando ele acabar, só responderei aos operadores até { DATETIME($date, dateStyle: "long") } (00:00 UTC). Envie /stats month para ver os custos.
budget-used-up = O orçamento deste mês acabou: { NUMBER($money, maximumFractionDigits: 4) } de { NUMBER($limit, maximumFractionDigits: 4) }. Até { DATETIME($date, dateStyle: "long") } (00:00 UTC) só responderei aos operadores. Envie /stats month para ver os custos.
wait-seconds =
    { $count ->
        [one] { $count } segundo
       *[other] { $count } segundos
    }
wait-minutes =
    { $count ->
        [one] { $count } minuto
       *[other] { $count } minutos
    }
wait-hours =
    { $count ->
        [one] { $count } hora
       *[other] { $count } horas
    }

## /model

model-current = Aqui as minhas respostas vêm de { $model }.
model-choose =
    { $place ->
        [group] Os administradores podem tocar em um modelo para mudar isso.
       *[private] Toque em um modelo para mudar isso.
    }
model-unknown = Não tenho um modelo chamado { $model }. Envie /model para ver os que você pode escolher.
# The answer of a turn whose model is gone ends with this.
model-missing = { $model } não está disponível, então { $other } respondeu.

# /voice
voice-current =
    { $choice ->
        [never] Aqui respondo com texto.
        [when_spoken_to] Aqui respondo a mensagens de voz com mensagens de voz, e a textos com texto.
       *[always] Aqui respondo com mensagens de voz, com o texto abaixo.
    }
voice-choose =
    { $place ->
        [group] Os administradores podem tocar em uma opção para mudar isso.
       *[private] Toque em uma opção para mudar isso.
    }
voice-label =
    { $choice ->
        [never] Nunca
        [when_spoken_to] Quando falam comigo
       *[always] Sempre
    }
voice-none = Não consigo falar, porque este bot não tem um modelo de voz. Respondo com texto.

## /usage e /stats

stats-contexts = Chats e tópicos: { $count }.
stats-queue =
    { $count ->
        [0] A fila está vazia.
       *[other] Na fila: { $count }. A mensagem mais antiga espera há { $oldest }.
    }
usage-title = Uso de hoje (UTC):
usage-none = Nada foi usado hoje.
usage-you = Você: { $tokens }.
usage-you-money = Você: { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Este chat: { $tokens }.
usage-chat-money = Este chat: { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Todos os chats: { $tokens }.
usage-all-money = Todos os chats: { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }.
costs-title = Uso em { $month } (UTC):
costs-none = Nada foi usado em { $month } (UTC).
costs-used = { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }
costs-memory = Desse total, resumos e fatos usaram { $used }.
costs-budget = Orçamento por mês: { NUMBER($limit, maximumFractionDigits: 4) }.
costs-people = Pessoas que mais usaram:
costs-chats = Chats que mais usaram:
costs-line = { $number }. { $name }: { $used }
costs-in-private = Para ver pessoas e chats, envie este comando no privado.
costs-usage = Envie /stats month para ver este mês ou /stats month { $month } para ver um mês anterior. Guardo 13 meses.
usage-limits-none = Não há limites.
usage-limits-you = Limites por pessoa: { $limits }.
usage-limits-chat = Limites por chat: { $limits }.
usage-resets = A contagem do dia recomeça daqui a { $wait }.
usage-tokens =
    { $count ->
        [one] { $count } token
       *[other] { $count } tokens
    }
usage-limit-messages =
    { $count ->
        [one] { $count } mensagem por minuto
       *[other] { $count } mensagens por minuto
    }
usage-limit-tokens =
    { $count ->
        [one] { $count } token por dia
       *[other] { $count } tokens por dia
    }
usage-limit-money = custo { NUMBER($money, maximumFractionDigits: 4) } por dia

## Quantidades, sempre depois de dois-pontos ou numa lista

list-separator = {", "}
count-messages =
    { $count ->
        [one] { $count } mensagem
       *[other] { $count } mensagens
    }
count-facts =
    { $count ->
        [one] { $count } fato
       *[other] { $count } fatos
    }
count-reminders =
    { $count ->
        [one] { $count } lembrete
       *[other] { $count } lembretes
    }
count-vectors =
    { $count ->
        [one] { $count } entrada de busca
       *[other] { $count } entradas de busca
    }
count-summaries =
    { $count ->
        [one] { $count } resumo
       *[other] { $count } resumos
    }
count-tool-notes =
    { $count ->
        [one] { $count } nota sobre ferramentas que usei
       *[other] { $count } notas sobre ferramentas que usei
    }
count-results =
    { $count ->
        [one] { $count } documento ou resultado salvo
       *[other] { $count } documentos ou resultados salvos
    }
count-talk =
    { $count ->
        [one] { $count } mensagem que não era para mim
       *[other] { $count } mensagens que não eram para mim
    }
count-quotes =
    { $count ->
        [one] { $count } citação
       *[other] { $count } citações
    }
count-updates =
    { $count ->
        [one] { $count } mensagem na fila
       *[other] { $count } mensagens na fila
    }
count-unsent =
    { $count ->
        [one] { $count } mensagem ainda não enviada
       *[other] { $count } mensagens ainda não enviadas
    }

## /memory

memory-nothing = Não me lembro de nada deste chat.
memory-messages =
    { $count ->
        [0] Não me lembro de nenhuma mensagem deste chat.
        [one] Eu me lembro de { $count } mensagem deste chat, desde { DATETIME($since, dateStyle: "long") }.
       *[other] Eu me lembro de { $count } mensagens deste chat, desde { DATETIME($since, dateStyle: "long") }.
    }
memory-conversation =
    { $count ->
        [one] { $count } delas é da nossa conversa atual.
       *[other] { $count } delas são da nossa conversa atual.
    }
memory-searchable =
    { $count ->
        [one] Posso pesquisar em { $count } delas.
       *[other] Posso pesquisar em { $count } delas.
    }
memory-searchable-all =
    { $count ->
        [1] Posso pesquisar nela.
       *[other] Posso pesquisar em todas.
    }
memory-unsearchable = Não consigo pesquisar nelas agora.
memory-also = Também guardo: { $things }.
memory-talk = Para acompanhar a conversa, também guardo por pouco tempo: { $things }.
memory-agent = O agente { $agent } assumiu este chat e responde aqui.
memory-erasing = Para apagar uma mensagem, responda a ela com /forget. Para apagar tudo, envie /reset.
memory-summary = Um resumo da nossa conversa anterior:
memory-open = Abrir a memória

## /catchup (when = uma data e uma hora de UTC)

catchup-private = /catchup é para grupos: lá eu conto o que foi dito enquanto você estava fora.
catchup-usage = Não entendi. Você pode enviar /catchup (desde que escreveu pela última vez), /catchup 2h, /catchup 30m, /catchup 10:00 (UTC), /catchup ontem ou /catchup 50 (as últimas 50 mensagens).
catchup-yesterday = ontem
catchup-when = { DATETIME($date, dateStyle: "long") }, { $time } UTC
catchup-own-title =
    { $count ->
        [one] O que foi dito desde que você escreveu pela última vez ({ $when }), { $count } mensagem:
       *[other] O que foi dito desde que você escreveu pela última vez ({ $when }), { $count } mensagens:
    }
catchup-new-title =
    { $count ->
        [one] Não sei quando você escreveu aqui pela última vez; isto é o que ouvi desde { $when }, { $count } mensagem:
       *[other] Não sei quando você escreveu aqui pela última vez; isto é o que ouvi desde { $when }, { $count } mensagens:
    }
catchup-since-title =
    { $count ->
        [one] O que foi dito desde { $when }, { $count } mensagem:
       *[other] O que foi dito desde { $when }, { $count } mensagens:
    }
catchup-last-title =
    { $count ->
        [one] A última mensagem, de { $when }:
       *[other] As últimas { $count } mensagens, desde { $when }:
    }
catchup-cut =
    { $count ->
        [one] Houve mais, mas de uma vez só consigo ler a última mensagem.
       *[other] Houve mais, mas de uma vez só consigo ler as últimas { $count } mensagens.
    }
catchup-point = • { $text } ({ $when })
catchup-point-by = • { $text } ({ $when }, { $name })
catchup-little = Nada importante, só conversa.
catchup-own-nothing = Você não perdeu nada: não ouvi nada aqui desde que você escreveu pela última vez ({ $when }).
catchup-since-nothing = Não ouvi nada aqui desde { $when }.
catchup-nothing = Ainda não ouvi nada aqui.
catchup-deaf = Só ouço o que é para mim, a não ser que eu seja administrador aqui ou que meu dono desligue meu modo de privacidade.
catchup-failed = Não consigo acessar o modelo de linguagem agora. Envie /catchup de novo daqui a alguns minutos.
catchup-unusable = Não consegui usar a resposta do modelo de linguagem. Envie /catchup de novo.
catchup-too-much = Era demais para ler de uma vez. Peça menos, por exemplo /catchup 50.
catchup-changed = Enquanto eu lia, mensagens foram alteradas ou apagadas. Envie /catchup de novo.

## /facts

facts-title =
    { $place ->
        [group] O que sei aqui sobre você ou contado por você:
       *[private] O que sei deste chat:
    }
facts-line = { $number }. { $statement }
facts-line-closed = { $number }. { $statement } (até { DATETIME($date, dateStyle: "long") })
list-page = De { $first } a { $last }, de { $total } no total.
facts-none =
    { $place ->
        [group] Ainda não anotei aqui nenhum fato sobre você ou contado por você.
       *[private] Ainda não anotei nenhum fato deste chat.
    }
facts-buttons = Toque em ❌ para apagar um fato ou em ✏️ para corrigi-lo. /facts off apaga todos, e eu paro de anotar outros.
facts-unread =
    { $count ->
        [one] Ainda estou lendo { $count } mensagem. Quando eu terminar, esta lista se atualiza sozinha.
       *[other] Ainda estou lendo { $count } mensagens. Quando eu terminar, esta lista se atualiza sozinha.
    }
list-delete = ❌ { $number }
facts-correct = ✏️ { $number }
list-back = ◀️ Voltar
list-more = Mais ▶️
facts-cancel = Cancelar
facts-ask = Qual é o certo, em vez de “{ $statement }”? Responda a esta mensagem em até uma hora.
facts-noted = Anotado: “{ $statement }”
facts-too-long = Escreva em uma frase de no máximo { $limit } caracteres, de novo em resposta à minha pergunta. Nada foi alterado.
fact-deleted = Esqueci esse fato. A mensagem de onde ele veio continua aqui: para apagá-la, responda a ela com /forget.
facts-outdated = Esta lista está desatualizada: esse fato foi alterado ou apagado. Aqui está o que sei agora.
facts-not-yours = Só quem enviou /facts e os administradores deste grupo podem usar estes botões.
facts-usage = Envie /facts para ver o que sei sobre você. Com /facts off eu apago tudo e paro de anotar, e com /facts on volto a anotar. Em grupos, /facts off all é para administradores e vale para todos.
facts-unavailable = Não anoto fatos aqui: o operador deste bot desativou isso, ou não há um modelo para isso.
facts-are-off-private = Não anoto fatos neste chat. Envie /facts on se quiser que eu anote.
facts-are-off-group = Não anoto fatos aqui. Um administrador pode mudar isso com /facts on.
facts-are-off-person = Não anoto fatos sobre você aqui. Envie /facts on se quiser que eu anote.
facts-on-private = A partir de agora anoto fatos do que você me escrever neste chat. /facts mostra os fatos.
facts-on-group = A partir de agora anoto aqui fatos do que vocês me escreverem. Cada pessoa pode ver os seus com /facts e recusar com /facts off.
facts-on-person = A partir de agora anoto aqui fatos sobre você, do que você me escrever. /facts mostra os fatos.
facts-already-on = Já anoto fatos aqui, também sobre você. /facts mostra os fatos.
facts-off-private = Não anoto mais fatos deste chat, e apaguei os que tinha.
facts-off-group = Não anoto mais fatos aqui, e apaguei os que tinha.
facts-off-person = Não anoto mais aqui fatos sobre você ou contados por você, e apaguei os que tinha.

## /reminders e /timezone

reminder-when = { DATETIME($date, dateStyle: "long") }, { $time }
reminder-when-repeated = { $when } ({ $repeats ->
        [hourly] a cada hora
        [daily] todos os dias
        [weekdays] de segunda a sexta
        [weekly] toda semana
        [monthly] todo mês
        [yearly] todo ano
       *[other] repete
    })
reminder-due = ⏰ { $text }
reminder-due-group = ⏰ { $name }: { $text }
reminder-late = Estou atrasado com isto: era para { $when }.
reminder-missed = Não consegui enviar este lembrete na hora ({ $when }): { $text }
reminders-title = Lembretes deste chat:
reminders-line = { $number }. { $when }: { $text }
reminders-line-by = { $number }. { $when }, { $name }: { $text }
reminders-none = Não há lembretes neste chat. Para ter um, escreva por exemplo: “Me lembre em 20 minutos de regar as plantas.”
reminders-buttons = Toque em ❌ para cancelar um lembrete.
reminders-zone = Os horários são do fuso horário { $zone }. Para mudá-lo, envie /timezone.
reminders-cancelled = Cancelado: “{ $text }”
reminders-gone = Esta lista está desatualizada: esse lembrete foi enviado ou cancelado. Aqui está o que resta.
reminders-not-yours = Só quem pediu este lembrete e os administradores deste grupo podem cancelá-lo.
timezone-shown = O seu fuso horário é { $zone }, onde agora são { $time }. Para mudá-lo, envie por exemplo /timezone Sao Paulo. Para eu esquecê-lo, envie /timezone off.
timezone-none = Não sei qual é o seu fuso horário. Envie uma cidade grande que fique nele, por exemplo /timezone Sao Paulo, ou a sua localização como resposta a esta mensagem.
timezone-set = O seu fuso horário agora é { $zone }, onde são { $time }. Os lembretes anteriores mantêm o horário.
timezone-off = Esqueci o seu fuso horário.
timezone-unknown = Não conheço o fuso horário “{ $name }”, por isso nada foi alterado. Envie uma cidade grande do seu fuso horário, por exemplo /timezone Sao Paulo, ou a diferença horária, por exemplo /timezone UTC-3.
timezone-choose = Qual destes é o seu fuso horário?
timezone-other = Nenhum destes
timezone-help = Envie uma cidade maior ou o seu país, por exemplo /timezone Sao Paulo, a diferença horária, por exemplo /timezone UTC-3, ou a hora do seu relógio, por exemplo /timezone 14:05.
timezone-fixed = Ele não tem horário de verão. Se o seu relógio muda no verão, toque numa cidade que tenha agora a sua hora:
timezone-meant = Se você quis dizer outro lugar, toque nele:

## /why

count-memories =
    { $count ->
        [one] { $count } lembrança
       *[other] { $count } lembranças
    }
count-other-things =
    { $count ->
        [one] { $count } outra coisa
       *[other] { $count } outras coisas
    }
why-title =
    { $which ->
        [last] Em que se baseia a minha última resposta:
       *[this] Em que se baseia essa resposta:
    }
why-memories = Da memória:
why-memory = • { $day }, { $writer }: “{ $words }”
why-fact = • { $day }, sobre { $subject }: “{ $words }”
why-day = { DATETIME($date, dateStyle: "long") }
why-me = eu
why-somebody = alguém
why-origin =
    { $origin ->
        [forwarded] { $writer }, encaminhado
        [via_bot] { $writer }, por meio de outro bot
       *[attached] { $writer }, anexo
    }
why-more =
    { $count ->
        [one] E mais { $count } mensagem.
       *[other] E mais { $count } mensagens.
    }
why-forgotten =
    { $count ->
        [one] { $count } mensagem já foi esquecida.
       *[other] { $count } mensagens já foram esquecidas.
    }
why-facts-forgotten =
    { $count ->
        [one] { $count } fato já foi esquecido.
       *[other] { $count } fatos já foram esquecidos.
    }
why-nothing-recalled = Da memória: nada.
why-also = Também li: { $things }.
why-window =
    { $count ->
        [one] a última mensagem da nossa conversa
       *[other] as últimas { $count } mensagens da nossa conversa
    }
why-summary = um resumo da nossa conversa anterior
why-tools = Ferramentas: { $tools }.
why-tool-failed = { $tool } (falhou)
why-no-room = Deixado de fora por falta de espaço: { $things }.
why-too-old = Deixado de fora por ser antigo demais: { $things }.
why-tokens = Modelo: { $models }. Lido: { $read }. Escrito: { $written }.
why-cost = Custo: { NUMBER($money, maximumFractionDigits: 6) }.
why-no-answer = Essa mensagem não é uma resposta minha, ou já a esqueci. Responda com /why a uma das minhas respostas.
why-none = Ainda não respondi nada nesta conversa.
why-no-receipt = Não tenho os detalhes dessa resposta. Eu os guardo por 30 dias no máximo.

## /forget e /reset

forget-usage = Responda com /forget à mensagem que devo esquecer, sua ou minha. Nada foi alterado.
not-kept = Não me lembro dessa mensagem, então não há nada para esquecer.
forgotten = Esqueci essa mensagem. Se outra mensagem a repetir, peça que eu esqueça essa também.
forgotten-several = Esqueci essas mensagens. Se outra mensagem as repetir, peça que eu esqueça essa também.
forgotten-unanswered = Esqueci essa mensagem. Não consegui respondê-la e só a guardava para uma nova tentativa.
forgotten-unkept = Esqueci essa mensagem. Eu não me lembrava dela, mas apaguei outras coisas daqui que a mencionavam.
forgotten-fact = Esqueci esse fato. As mensagens de onde ele veio continuam aqui.
forgotten-reminder = Apaguei esse lembrete. As mensagens sobre ele continuam aqui.
forget-interrupted = Houve uma interrupção, então posso ter apagado mais do que está indicado aqui.
forget-doubt = Para apagar tudo o que lembro deste chat, envie /reset.
forget-used =
    { $count ->
        [one] { $count } das minhas respostas a usou e pode repeti-la.
       *[other] { $count } das minhas respostas a usaram e podem repeti-la.
    }
forget-used-several =
    { $count ->
        [one] { $count } das minhas respostas as usou e pode repeti-las.
       *[other] { $count } das minhas respostas as usaram e podem repeti-las.
    }
forget-rests = O mesmo vale para o que se baseia nelas: { $things }.
forget-answers-button = Esquecê-las também
unknown-chat-id = Indique o ID do chat, por exemplo /reset -1001234. Nada foi alterado.
reset-asks =
    { $scope ->
        [topic] Isso apaga tudo o que lembro deste tópico.
        [all] Isso apaga tudo o que lembro deste chat e de todos os seus tópicos.
       *[chat] Isso apaga tudo o que lembro deste chat.
    } Não dá para desfazer. Para continuar, toque no botão em até dez minutos.
reset-button = Apagar tudo
reset-not-yours = Só quem enviou /reset pode tocar neste botão.
reset-expired = Este botão expirou, e nada foi apagado. Envie /reset de novo se ainda quiser apagar tudo.
reset-nothing = Não havia nada para apagar.
reset-chat = Apaguei tudo o que lembrava deste chat.
reset-topic = Apaguei tudo o que lembrava deste tópico.
reset-all = Apaguei tudo o que lembrava deste chat e de todos os seus tópicos.
reset-other = Apaguei tudo o que lembrava do chat { $chat }.
reset-doubt = Chegou algo novo enquanto eu verificava. Envie /reset de novo para ter certeza.
receipt-erased = Apagado: { $things }.
receipt-details = Detalhes
receipt-still = Verifiquei, e isto ainda está lá: { $things }.
receipt-proven = Verifiquei: não sobrou nada.
receipt-proven-text = Verifiquei: o texto em si foi apagado.
receipt-index-away = A busca não está respondendo agora, então não consegui verificá-la. Ela não encontra mais essas entradas, que serão apagadas assim que ela voltar.
receipt-unclean = O arquivo de registro do banco de dados guarda as palavras antigas até que o operador deste bot mande reescrevê-lo.

## Arquivos que não podem ser lidos em mensagens sem texto

media-unseen = Não consigo ver imagens: meu modelo de linguagem só lê texto. Diga o que há nela, e eu ajudo com isso.
media-no-picture = Não consegui abrir esta imagem. Envie de novo como foto ou como arquivo JPEG, PNG, WebP ou GIF, por favor.
media-deaf = Não consigo ouvir gravações, porque a transcrição não está configurada aqui. Envie como texto, por favor.
media-unheard = Não consegui abrir esta gravação, porque não consigo reproduzir o formato dela. Grave de novo ou envie como texto, por favor.
media-silent = Ouvi sua gravação, mas não entendi nenhuma palavra. Tente um pouco mais alto ou envie como texto, por favor.
media-unavailable = Não consegui ouvir sua gravação, porque o serviço de transcrição não está respondendo. Envie de novo mais tarde ou como texto, por favor.
media-too-long = Esta gravação dura { $duration }, e posso ouvir no máximo { $limit } minutos. Envie uma mais curta, por favor.
media-too-large = Este arquivo é grande demais para mim: posso ler até { $limit } MB. Envie um menor ou só a parte importante, por favor.
media-gone = O Telegram não me dá mais este arquivo. Envie de novo, por favor.
media-not-fetched = Não consegui obter este arquivo do Telegram agora. Envie de novo em um instante, por favor.
media-moving = Não consigo ver vídeos nem animações. Envie uma foto do que importa ou descreva em palavras.
media-unknown = Não consigo ler este tipo de arquivo. Leio texto, Markdown, CSV, JSON, código-fonte e PDF. Envie em um desses formatos ou cole o texto em uma mensagem, por favor.
media-empty = Este arquivo está vazio. Confira e envie de novo, por favor.
media-encoding = Não reconheço a codificação deste texto. Salve em UTF-8 e envie de novo, ou cole o texto em uma mensagem, por favor.
media-pdf-encrypted = Este PDF está protegido, e não consigo abri-lo. Envie sem senha, por favor.
media-pdf-corrupt = Não consegui abrir este PDF: o arquivo está danificado ou não é um PDF. Envie de novo, por favor.
media-pdf-empty = Não há texto neste PDF.
media-pdf-scanned = Este PDF só contém imagens das páginas, então não há texto que eu possa ler. Envie um PDF com texto ou fotos das páginas importantes, por favor.
media-pdf-too-much = Este PDF é grande demais para mim. Envie um menor ou só as páginas importantes, por favor.

## Prévia e respostas longas

rest-in-file = A resposta completa está no arquivo { $name }, abaixo.
rest-not-shown = A resposta continua, mas não posso enviar arquivos neste chat. Peça a parte de que você precisa.
whole-in-file = A resposta completa está neste arquivo, para que sua próxima mensagem não precise esperar.
file-not-sent = Não consegui enviar o arquivo { $name }. Peça para eu criá-lo de novo.
preview-writing = Estou escrevendo uma resposta…
preview-stop = ⏹ Parar
preview-tool = ⚙️ Usando a ferramenta { $tool }…
inline-ask = Perguntar a { $bot }
inline-open = Abrir o bot
inline-erased = Minha memória foi apagada antes que eu pudesse responder. Pergunte de novo, por favor.
inline-cut = A resposta não cabe em uma mensagem. Pergunte na nossa conversa privada para ler tudo.

## Botões

answer-written = Já terminei essa resposta.
button-unknown = Este botão não funciona mais.
button-gone = Não consigo mais saber em qual tópico está esta mensagem, então não mudei nada. Envie { $command } no tópico, por favor.
stop-not-yours = Só a pessoa que perguntou e os administradores do grupo podem parar esta resposta.
