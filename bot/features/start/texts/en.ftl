start-private =
    Hi! I'm an assistant that remembers what you tell me.
    Tell me anything, and ask me about it later.

start-group =
    Hi! I'm an assistant that remembers this group.
    Reply to me or mention me, and I'll answer.

start-erasing = What you say here stays in this chat, and /reset erases it.
start-offline = There's no language model behind me right now, so I can't chat freely. But I remember what you tell me, and I quote it when you ask.
start-offline-operator = For operators: set OPENAI_API_KEY to get real answers.
start-button = What can you do?

start-page =
    Press the button to open the memory of your group. { $viewers ->
        [members] Only its members can see it.
       *[administrators] Only its administrators can see it.
    }

start-page-off = The memory page of groups is turned off, so I can't open it.
help-help = /help — show this text
menu-help = What I can do
invitation-accepted = Welcome! Your invitation has been accepted, and you can talk to me now.
invitation-invalid = This invitation isn't valid: it's unknown, already used or expired. Please ask the person who invited you for a new link.
invitation-later = You've tried too many invalid invitations. Please wait an hour before you try another one.
