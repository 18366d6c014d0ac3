help-new = /new — ein neues Gespräch beginnen; die alten kann ich weiter durchsuchen
menu-new = Ein neues Gespräch beginnen; die alten bleiben durchsuchbar
new-conversation = Wir haben ein neues Gespräch begonnen. An die früheren erinnere ich mich weiterhin und kann sie durchsuchen.
