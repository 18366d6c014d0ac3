# Textos do bot em português. Cada chave está no arquivo de cada idioma, com as mesmas variáveis.

## /start e /help

help-private = Eu me lembro do que você me conta neste chat. Nunca uso isso em outros chats.
help-group = Respondo quando vocês respondem às minhas mensagens, me mencionam ou me enviam um comando. O que sei deste grupo fica aqui, e cada tópico tem sua própria memória.
help-administrators = Para administradores, que também podem usar /forget nas mensagens de outras pessoas:
help-operators = Para os operadores deste bot:
help-editing = Se você editar uma mensagem, vou me lembrar do texto novo no lugar do antigo.

help-operators-reset = /reset -1001234 — apagar tudo o que lembro do chat com este ID

## Respostas

nothing-to-show = A resposta do modelo de linguagem não tinha nada que eu possa mostrar. Pergunte de outra forma, por favor.
stopped = Parei.
stopped-sending = Parei. Não vou enviar o resto dessa resposta.
stopped-mark = interrompida
cut-length = cortada: limite do modelo
cut-filter = cortada pelo filtro do modelo
unreadable = Não consigo ler este tipo de mensagem. Escreva em texto, por favor.
unknown-command = Não conheço o comando { $name }. Envie /help para ver o que sei fazer.

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

## /usage e /stats

usage-title = Uso de hoje (UTC):
usage-none = Nada foi usado hoje.
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

## /facts

list-page = De { $first } a { $last }, de { $total } no total.
list-delete = ❌ { $number }
list-back = ◀️ Voltar
list-more = Mais ▶️

## /forget e /reset

not-kept = Não me lembro dessa mensagem, então não há nada para esquecer.
forgotten = Esqueci essa mensagem. Se outra mensagem a repetir, peça que eu esqueça essa também.
forgotten-fact = Esqueci esse fato. As mensagens de onde ele veio continuam aqui.
receipt-erased = Apagado: { $things }.
receipt-details = Detalhes
receipt-still = Verifiquei, e isto ainda está lá: { $things }.
receipt-proven = Verifiquei: não sobrou nada.
receipt-proven-text = Verifiquei: o texto em si foi apagado.
receipt-index-away = A busca não está respondendo agora, então não consegui verificá-la. Ela não encontra mais essas entradas, que serão apagadas assim que ela voltar.
receipt-unclean = O arquivo de registro do banco de dados guarda as palavras antigas até que o operador deste bot mande reescrevê-lo.
receipt-not-copied = Não foi possível registrar esta exclusão ao lado do banco de dados. Se o operador deste bot um dia restaurar um backup mais antigo, peça a exclusão de novo.

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
