help-stop = /stop — parar a resposta que estou escrevendo
menu-stop = Parar a resposta que estou escrevendo
nothing-to-stop = Não há nada para parar: não estou escrevendo nenhuma resposta.
