# Textos do bot em português. Cada chave está no arquivo de cada idioma, com as mesmas variáveis.

## /start e /help

start-private =
    Olá! Sou um assistente que se lembra do que você me conta.
    Conte o que quiser e pergunte sobre isso mais tarde.
start-group =
    Olá! Sou um assistente que se lembra deste grupo.
    Respondam às minhas mensagens ou me mencionem, e eu respondo.
start-erasing = O que é dito aqui fica neste chat, e /reset apaga tudo.
start-offline = Estou usando o modelo offline, um pequeno substituto de um modelo de linguagem. Para ter respostas de verdade, defina OPENAI_API_KEY.
start-button = O que você sabe fazer?
help-private =
    Eu me lembro do que você me conta neste chat. Nunca uso isso em outros chats.

    /new — começar uma conversa nova; ainda posso pesquisar nas anteriores
    /memory — ver o que lembro deste chat
    /forget — em resposta a uma mensagem: apagá-la de todos os lugares
    /reset — apagar tudo o que lembro deste chat
    /stop — parar a resposta que estou escrevendo
    /usage — ver o uso de hoje e os limites
    /help — mostrar este texto

    Se você editar uma mensagem, vou me lembrar do texto novo no lugar do antigo.
help-group =
    Respondo quando vocês respondem às minhas mensagens, me mencionam ou me enviam um comando. O que sei deste grupo fica aqui, e cada tópico tem sua própria memória.

    /memory — ver o que lembro deste grupo ou tópico
    /forget — em resposta a uma mensagem: apagá-la de todos os lugares
    /stop — parar a resposta que estou escrevendo
    /usage — ver o uso de hoje e os limites
    /help — mostrar este texto

    Para administradores, que também podem usar /forget nas mensagens de outras pessoas:
    /new — começar uma conversa nova; ainda posso pesquisar nas anteriores
    /reset — apagar tudo o que lembro deste grupo ou tópico
    /reset all — o mesmo para todos os tópicos do grupo

    Se você editar uma mensagem, vou me lembrar do texto novo no lugar do antigo.
help-operator =
    Para os operadores deste bot:
    /stats — ver quantos chats há, a fila e o uso de hoje
    /reset -1001234 — apagar tudo o que lembro do chat com este ID

## O menu de comandos (no máximo 256 caracteres)

menu-help = O que sei fazer
menu-new = Começar uma conversa nova; a memória antiga continua pesquisável
menu-memory = O que guardo deste chat
menu-forget = Em resposta a uma mensagem: apagá-la do que guardo
menu-reset = Apagar o que guardo deste chat
menu-stop = Parar a resposta que estou escrevendo
menu-usage = O uso de hoje e os limites
menu-stats = Para operadores: contextos, fila e uso

## Respostas

nothing-to-show = A resposta do modelo de linguagem não tem nada que possa ser mostrado. Pergunte de outra forma, por favor.
stopped = Parei.
stopped-mark = interrompida
nothing-to-stop = Não há nada para parar: não estou escrevendo nenhuma resposta.
unreadable = Não consigo ver o que há neste tipo de mensagem. Diga em palavras, por favor.
unknown-command = Não conheço o comando { $name }. Com /help você vê os que conheço.
new-conversation = Uma conversa nova. O que foi dito antes continua na minha memória, e posso pesquisar nele.

## O que deu errado

buried = Não consegui terminar minha resposta a uma mensagem anterior: algo deu errado todas as vezes que tentei. Ela ficou separada para o operador, e sigo com a próxima.
buried-edit = Você editou uma mensagem, e não consegui guardar o que ela diz agora: algo deu errado todas as vezes que tentei. Ela ficou separada para o operador. Com /forget em resposta à mensagem, eu a apago.
failure-model-unavailable = Não consigo falar com o modelo de linguagem agora. Sua mensagem está na minha memória; pergunte de novo daqui a pouco, por favor.
failure-model-quota = A conta do modelo de linguagem ficou sem cota, então não posso responder até o operador resolver isso.
failure-model-refused = O modelo de linguagem não aceitou meu pedido, então não posso responder. O operador pode ver o motivo no registro.
failure-prompt-too-long = Isso é mais do que o modelo de linguagem consegue ler de uma vez. Envie em partes menores, por favor.
failure-model-silent = O modelo de linguagem deu uma resposta vazia duas vezes. Pergunte de outra forma ou tente de novo, por favor.
failure-deadline = Estava demorando demais, e parei. Tente de novo, talvez com uma pergunta menor.
failure-other = Algo deu errado, e não consegui responder. Tente de novo, por favor.

## Quem pode o quê

refused = Desculpe, não posso falar neste chat. Nada do que você escreveu foi guardado.
administrators-only = Só os administradores deste grupo podem fazer isso. Nada foi alterado.
operators-only = Só os operadores deste bot podem fazer isso. Nada foi alterado.
cannot-check = Não consegui verificar no Telegram quem administra este grupo, então nada foi alterado. Tente de novo, por favor.
others-message = Aqui você pode pedir que eu esqueça as suas próprias mensagens. As dos outros, e as minhas respostas, só os administradores deste grupo. Nada foi alterado.
invitation-accepted = Boas-vindas! Seu convite foi aceito, e a partir de agora respondo a você.
invitation-invalid = Este convite é desconhecido, já foi usado ou está vencido. Peça um link novo a quem convidou você, por favor.
invitation-later = Você tentou convites demais que não conheço. Espere uma hora antes do próximo, por favor.

## Grupos

group-joined = Olá! Sou um assistente que se lembra deste grupo, e o que sei dele não uso em nenhum outro chat.
group-promoted = Agora sou administrador aqui e vejo mais do que antes.
group-sees-all = Vejo todas as mensagens daqui, e só respondo quando falam comigo.
group-sees-addressed = Só vejo o que é para mim: respostas a mim, menções de { $bot } e comandos. Para que eu acompanhe também a conversa, me tornem administrador, ou peçam ao meu dono que desligue meu modo de privacidade (/setprivacy em @BotFather) e me adicione de novo ao grupo.
group-keeps-talk =
    { $count ->
        [one] Do que não é dirigido a mim guardo a última mensagem, por no máximo uma semana, para saber do que vocês falam.
       *[other] Do que não é dirigido a mim guardo as últimas { $count } mensagens, por no máximo uma semana, para saber do que vocês falam.
    }
group-keeps-addressed = Guardo o que vocês me dizem e o que respondo, e nada mais.
group-addressing = Respondam a mim ou mencionem { $bot }, e eu respondo. Com /help conto mais, com /memory o que guardo, e com /reset um administrador faz tudo ser apagado.

## Limites (wait = um dos wait-… abaixo)

limit-user-messages =
    { $limit ->
        [one] Posso responder a você uma vez por minuto
       *[other] Posso responder a você { $limit } vezes por minuto
    }, e o limite foi atingido. Tente de novo daqui a { $wait }.
limit-chat-messages =
    { $limit ->
        [one] Neste chat posso responder uma vez por minuto
       *[other] Neste chat posso responder { $limit } vezes por minuto
    }, e o limite foi atingido. Tente de novo daqui a { $wait }.
limit-user-tokens =
    { $limit ->
        [one] Você já gastou seu { $limit } token de hoje.
       *[other] Você já gastou seus { $limit } tokens de hoje.
    } Posso responder a você de novo daqui a { $wait }; o dia começa às 00:00 UTC.
limit-chat-tokens =
    { $limit ->
        [one] Este chat já gastou seu { $limit } token de hoje.
       *[other] Este chat já gastou seus { $limit } tokens de hoje.
    } Posso responder aqui de novo daqui a { $wait }; o dia começa às 00:00 UTC.
limit-user-money = Você já gastou o que pode ser gasto com você num dia ({ NUMBER($limit, maximumFractionDigits: 4) }). Posso responder a você de novo daqui a { $wait }; o dia começa às 00:00 UTC.
limit-chat-money = Este chat já gastou o que pode gastar num dia ({ NUMBER($limit, maximumFractionDigits: 4) }). Posso responder aqui de novo daqui a { $wait }; o dia começa às 00:00 UTC.
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

## /usage

stats-contexts = Contextos: { $count }.
stats-queue = Na fila: { $count }, o mais antigo há { $oldest }.
usage-title = Usado hoje (UTC):
usage-you = Você: { $tokens }.
usage-you-money = Você: { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }.
usage-chat = Este chat: { $tokens }.
usage-chat-money = Este chat: { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }.
usage-all = Todos os chats: { $tokens }.
usage-all-money = Todos os chats: { $tokens }, custo { NUMBER($money, maximumFractionDigits: 4) }.
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
count-ledger-turns =
    { $count ->
        [one] { $count } registro de ferramentas
       *[other] { $count } registros de ferramentas
    }
count-artifacts =
    { $count ->
        [one] { $count } artefato
       *[other] { $count } artefatos
    }
count-heard =
    { $count ->
        [one] { $count } linha que não era para mim
       *[other] { $count } linhas que não eram para mim
    }
count-quotes =
    { $count ->
        [one] { $count } citação
       *[other] { $count } citações
    }
count-updates =
    { $count ->
        [one] { $count } mensagem à espera
       *[other] { $count } mensagens à espera
    }
unknown-now = não se sabe

## /memory

memory-nothing = Não guardo nada deste chat.
memory-kept = Deste chat guardo: { $messages }.
memory-kept-since = Deste chat guardo: { $messages }. Sua memória começou em { $since } UTC.
memory-conversation = Na conversa atual: { $count }. Encontradas pela busca: { $searchable }.
memory-unsearchable = não se sabe, o índice não responde agora
memory-beside = Além disso: { $summaries }, { $ledger }, { $artifacts }.
memory-heard = Guardado por pouco tempo como contexto: { $heard }.
memory-agent = Aqui responde o agente { $agent }, a quem este chat foi transferido.
memory-erasing = /forget em resposta a uma mensagem a apaga; /reset apaga tudo.
memory-summary = O que veio antes nesta conversa, em resumo:

## /forget e /reset

forget-usage = Responda com /forget à mensagem que devo esquecer, sua ou minha. Nada foi alterado.
not-kept = Não guardo essa mensagem, então não há nada para esquecer.
forgotten = Esqueci essa mensagem. Se outra a repetir, como uma resposta minha, peça que eu esqueça essa também.
forgotten-unanswered = Esqueci essa mensagem. Eu não me lembrava dela: a resposta tinha falhado, e ela só estava guardada para uma nova tentativa.
forgotten-unkept = Esqueci essa mensagem. Eu não me lembrava dela, mas outras coisas daqui falavam dela.
forget-interrupted = Houve uma interrupção: além da mensagem, pode ter sido apagado mais do que se conta aqui.
forget-doubt = Sobrou algo dela. /reset apaga tudo o que guardo deste chat.
unknown-chat-id = Um chat é indicado pelo seu número, como em /reset -1001234. Nada foi alterado.
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
reset-chat = Apaguei a memória deste chat.
reset-topic = Apaguei a memória deste tópico.
reset-all = Apaguei a memória deste chat, com todos os seus tópicos.
reset-other = Apaguei a memória do chat { $chat }.
reset-doubt = Chegou algo enquanto eu conferia; envie /reset de novo para ter certeza.
receipt-erased = Apagado: { $things }.
receipt-left = Encontrado ao conferir: mensagens { $messages }, entradas de busca { $vectors }, todo o resto { $others }.
receipt-proven = Depois conferi os dois armazenamentos: não sobrou nada.
receipt-index-away = O índice de busca não responde agora: nenhuma busca vê mais as suas entradas, e elas serão apagadas assim que ele responder.

## Arquivos: o que se diz quando um não pode ser lido e a mensagem não tem palavras a responder

media-unseen = Não consigo ver imagens: o modelo de linguagem com que trabalho só lê texto. Diga o que há nela, e eu ajudo com isso.
media-no-picture = Não consegui abrir esta imagem. Envie de novo, por favor, como foto ou como arquivo JPEG, PNG, WebP ou GIF.
media-deaf = Não consigo ouvir gravações: aqui não há nada que as transcreva. Envie como texto, por favor.
media-unheard = Não consegui abrir esta gravação: ela não está num formato que se possa ouvir. Grave de novo ou envie como texto, por favor.
media-silent = Ouvi a sua gravação, mas não distingui nenhuma palavra. Tente um pouco mais alto ou envie como texto, por favor.
media-unavailable = Não consegui ouvir a sua gravação: o serviço que a transcreve não responde agora. Envie de novo daqui a pouco ou envie como texto, por favor.
media-too-long = Esta gravação dura { $duration }; posso ouvir no máximo { $limit } minutos. Envie uma mais curta, por favor.
media-too-large = Este arquivo é grande demais para mim: posso ler no máximo { $limit } MB. Envie um menor ou a parte que importa, por favor.
media-gone = O Telegram não me dá mais este arquivo. Envie de novo, por favor.
media-not-fetched = Não consegui buscar este arquivo no Telegram agora. Envie de novo em um instante, por favor.
media-moving = Não consigo ver vídeos nem animações. Envie uma foto do que importa ou conte em palavras.
media-unknown = Não consigo ler este tipo de arquivo. Leio texto, Markdown, CSV, JSON, código-fonte e PDF; envie num desses formatos ou copie o texto numa mensagem, por favor.
media-empty = Não há nada neste arquivo. Confira e envie de novo, por favor.
media-pdf-encrypted = Este PDF está protegido, e não consigo abri-lo. Envie sem senha, por favor.
media-pdf-corrupt = Não consegui abrir este PDF: o arquivo está danificado ou não é um PDF. Envie de novo, por favor.
media-pdf-empty = Não há texto neste PDF.
media-pdf-scanned = Este PDF só tem imagens das páginas e nenhum texto que eu possa ler. Envie um com texto ou fotos das páginas que importam, por favor.
media-pdf-too-much = Ler este PDF dá mais trabalho do que posso dedicar a ele. Envie um menor ou as páginas que importam, por favor.

## Enquanto uma resposta é escrita, e as longas

rest-in-file = A resposta completa está no arquivo { $name }, abaixo.
preview-writing = Estou escrevendo uma resposta…
preview-stop = ⏹ Parar
preview-tool = ⚙️ Usando a ferramenta { $tool }…

# Botões

answer-written = Essa resposta já está escrita.
button-unknown = Este botão já não faz nada.
stop-not-yours = Só quem perguntou e os administradores do grupo podem parar esta resposta.
