help-import = /import — trazer seu histórico do Telegram, ChatGPT ou Claude
menu-import = Trazer seu histórico do Telegram, ChatGPT ou Claude
import-private = Só importo históricos na nossa conversa privada. Envie o arquivo por lá.

import-how =
    Envie o histórico como arquivo: result.json do Telegram Desktop, ou conversations.json do ChatGPT ou do Claude. Pode estar em um zip, de até { $limit } MB.

    Guardo cada mensagem com a data e o autor, abaixo do que conversamos aqui.

import-offer =
    { $count ->
        [one] Este é um histórico do { $service } com { $count } mensagem. Devo importá-lo para a minha memória desta conversa?
       *[other] Este é um histórico do { $service } com { $count } mensagens. Devo importá-lo para a minha memória desta conversa?
    }

import-button =
    { $count ->
        [one] Importar { $count } mensagem
       *[other] Importar { $count } mensagens
    }

import-progress = Importando: { $done } de { $count }. Envie /stop para cancelar.

import-done =
    { $count ->
        [0] Eu já conhecia todo este histórico do { $service }.
        [one] Importei { $count } mensagem do { $service }. Daqui a pouco poderei pesquisá-la.
       *[other] Importei { $count } mensagens do { $service }. Daqui a pouco poderei pesquisá-las.
    }

import-known =
    { $count ->
        [one] { $count } mensagem já estava aqui.
       *[other] { $count } mensagens já estavam aqui.
    }

import-stays-forgotten =
    { $count ->
        [one] { $count } mensagem tinha sido esquecida aqui antes e continua esquecida.
       *[other] { $count } mensagens tinham sido esquecidas aqui antes e continuam esquecidas.
    }

import-all-forgotten = Não importei nada: este histórico do { $service } tinha sido esquecido aqui antes, e o que foi esquecido não volta.

import-line = • { $service }, { DATETIME($date, dateStyle: "long") }: { $count }
import-forget-button = Esquecer esta importação: { $service }, { $count }
import-forgotten = Esqueci essa importação.
import-cancelled = Cancelei a importação e não guardei nada dela.
import-paused = A importação não terminou. Toque no botão e continuo de onde parei.
import-gone = Não consigo mais obter esse arquivo. Envie-o de novo, por favor.
import-too-large = O Telegram me deixa baixar arquivos de até { $limit } MB, e este é maior. Se for um histórico, envie só o arquivo JSON em um zip, ou exporte um período mais curto.
import-own = Esta é uma exportação da minha própria memória. Ela só volta inteira e para um chat vazio: quem me administra pode fazer isso com { $command }.
import-unknown = Não reconheço nenhum histórico neste zip. Posso importar result.json do Telegram Desktop e conversations.json do ChatGPT ou do Claude.
import-bad = Não consigo ler este histórico: o arquivo está danificado, protegido ou fica grande demais ao ser descompactado. Nada foi importado. Exporte-o de novo, por favor.
import-empty = Este histórico do { $service } não tem mensagens.

import-cut =
    { $count ->
        [one] Este arquivo termina no meio, depois de { $count } mensagem. Nada foi importado. Exporte-o de novo, por favor.
       *[other] Este arquivo termina no meio, depois de { $count } mensagens. Nada foi importado. Exporte-o de novo, por favor.
    }
