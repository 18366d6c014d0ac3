help-new = /new — start a new conversation; I can still search the old ones
menu-new = Start a new conversation; I can still search the old ones
new-conversation = We've started a new conversation. I still remember the earlier ones and can search them.
