help-memory = { $place ->
    [group] /memory — see what I remember from this group or topic
   *[private] /memory — see what I remember from this chat
 }

menu-memory = See what I remember from this chat
memory-nothing = I don't remember anything from this chat.

memory-messages =
    { $count ->
        [0] I don't remember any messages from this chat.
        [one] I remember { $count } message from this chat, since { DATETIME($since, dateStyle: "long") }.
       *[other] I remember { $count } messages from this chat, since { DATETIME($since, dateStyle: "long") }.
    }

memory-conversation =
    { $count ->
        [one] { $count } of them is in our current conversation.
       *[other] { $count } of them are in our current conversation.
    }

memory-searchable =
    { $count ->
        [one] I can search { $count } of them.
       *[other] I can search { $count } of them.
    }

memory-searchable-all =
    { $count ->
        [1] I can search it.
       *[other] I can search all of them.
    }

memory-unsearchable = I can't search them right now.
memory-also = I also remember: { $things }.
memory-talk = To follow the conversation, I also keep for a short time: { $things }.
memory-agent = The agent { $agent } has taken over this chat and answers here.
memory-erasing = To erase one message, reply to it with /forget. To erase everything, send /reset.
memory-summary = A summary of our earlier conversation:
memory-open = Open memory
