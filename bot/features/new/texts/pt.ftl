help-new = /new — começar uma conversa nova; ainda posso pesquisar nas anteriores
menu-new = Começar uma conversa nova; ainda posso pesquisar nas anteriores
new-conversation = Começamos uma conversa nova. Ainda me lembro das anteriores e posso pesquisar nelas.
