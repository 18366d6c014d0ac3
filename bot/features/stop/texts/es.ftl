help-stop = /stop — detener la respuesta que estoy escribiendo
menu-stop = Detener la respuesta que estoy escribiendo
nothing-to-stop = No hay nada que detener: no estoy escribiendo ninguna respuesta.
