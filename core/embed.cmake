# cmake -DOUT=FILE.c -DSCHEMA=FILE -DTEMPLATE=FILE -P embed.cmake: the two functions of jobs/handoff.h that return a file
# of this repository, byte for byte.
set(source "/* Made by core/embed.cmake. */\n#include <jobs/handoff.h>\n")
foreach(name schema template)
  string(TOUPPER ${name} variable)
  file(READ ${${variable}} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
  string(APPEND source "\nstatic const char ${name}[] = {${bytes}0};\n"
    "const char *jobs_handoff_${name}(void)\n{\n    return ${name};\n}\n")
endforeach()
file(WRITE ${OUT} "${source}")
