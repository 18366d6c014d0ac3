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
help-help = /help — mostrar este texto
menu-help = O que sei fazer
invitation-accepted = Boas-vindas! Seu convite foi aceito, e agora você pode falar comigo.
invitation-invalid = Este convite não é válido: ele não existe, já foi usado ou expirou. Peça um link novo à pessoa que convidou você, por favor.
invitation-later = Você tentou convites inválidos demais. Espere uma hora antes de tentar outro, por favor.
