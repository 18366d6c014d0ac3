help-stop = /stop — die Antwort abbrechen, die ich gerade schreibe
menu-stop = Die Antwort abbrechen, die ich gerade schreibe
nothing-to-stop = Es gibt nichts abzubrechen: Ich schreibe gerade keine Antwort.
