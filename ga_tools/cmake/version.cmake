# Writes OUTPUT, the source of ga_tools::version(), if its text has changed.
set(version ${PACKAGE_VERSION})
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} describe --always --dirty OUTPUT_VARIABLE commit RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    string(APPEND version " (${commit})")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[// Written by version.cmake.
#include "report/version.hpp"

namespace ga_tools {

const char* version() { return "@version@"; }

}  // namespace ga_tools
]] @ONLY)
