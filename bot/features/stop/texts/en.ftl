help-stop = /stop — stop the answer I'm writing
menu-stop = Stop the answer I'm writing
nothing-to-stop = There's nothing to stop: I'm not writing an answer.
