help-new = /new — empezar una conversación nueva; puedo seguir buscando en las anteriores
menu-new = Empezar una conversación nueva; puedo seguir buscando en las anteriores
new-conversation = Hemos empezado una conversación nueva. Sigo recordando las anteriores y puedo buscar en ellas.
