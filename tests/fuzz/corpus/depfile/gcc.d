a.o b: c.h \
 d\ e.h $$x \#y z\:w

c.h:
# note
