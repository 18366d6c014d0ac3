help-import = /import — traer tu historial de Telegram, ChatGPT o Claude
menu-import = Traer tu historial de Telegram, ChatGPT o Claude
import-private = Solo importo historiales en nuestro chat privado. Envíame allí el archivo.

import-how =
    Envíame el historial como archivo: result.json de Telegram Desktop, o conversations.json de ChatGPT o Claude. Puede ir en un zip, de hasta { $limit } MB.

    Guardo cada mensaje con su fecha y su autor, por debajo de lo que hemos dicho aquí.

import-offer =
    { $count ->
        [one] Es un historial de { $service } con { $count } mensaje. ¿Lo importo a mi memoria de este chat?
       *[other] Es un historial de { $service } con { $count } mensajes. ¿Lo importo a mi memoria de este chat?
    }

import-button =
    { $count ->
        [one] Importar { $count } mensaje
       *[other] Importar { $count } mensajes
    }

import-progress = Importando: { $done } de { $count }. Envía /stop para cancelar.

import-done =
    { $count ->
        [0] Ya conocía todo este historial de { $service }.
        [one] He importado { $count } mensaje de { $service }. En un momento podré buscarlo.
       *[other] He importado { $count } mensajes de { $service }. En un momento podré buscarlos.
    }

import-known =
    { $count ->
        [one] { $count } mensaje ya estaba aquí.
       *[other] { $count } mensajes ya estaban aquí.
    }

import-stays-forgotten =
    { $count ->
        [one] { $count } mensaje se había olvidado aquí antes y sigue olvidado.
       *[other] { $count } mensajes se habían olvidado aquí antes y siguen olvidados.
    }

import-all-forgotten = No he importado nada: este historial de { $service } se había olvidado aquí antes, y lo olvidado no vuelve.

import-line = • { $service }, { DATETIME($date, dateStyle: "long") }: { $count }
import-forget-button = Olvidar esta importación: { $service }, { $count }
import-forgotten = He olvidado esa importación.
import-cancelled = He cancelado la importación y no he guardado nada de ella.
import-paused = La importación no ha terminado. Pulsa el botón y seguiré desde ahí.
import-gone = Ya no puedo obtener ese archivo. Envíalo otra vez, por favor.
import-too-large = Telegram me deja descargar archivos de hasta { $limit } MB, y este es más grande. Si es un historial, envíame solo su archivo JSON en un zip, o exporta un período más corto.
import-own = Esta es una exportación de mi propia memoria. Solo vuelve entera y a un chat vacío: quien me administra puede hacerlo con { $command }.
import-unknown = No reconozco ningún historial en este zip. Puedo importar result.json de Telegram Desktop y conversations.json de ChatGPT o Claude.
import-bad = No puedo leer este historial: el archivo está dañado, protegido o es demasiado grande al descomprimirlo. No se ha importado nada. Expórtalo otra vez, por favor.
import-empty = Este historial de { $service } no tiene mensajes.

import-cut =
    { $count ->
        [one] Este archivo se corta después de { $count } mensaje. No se ha importado nada. Expórtalo otra vez, por favor.
       *[other] Este archivo se corta después de { $count } mensajes. No se ha importado nada. Expórtalo otra vez, por favor.
    }
