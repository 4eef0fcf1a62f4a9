# Launch tests, of this package and others.

# Runs Python, and repeats a failed test if the machine stalled.
set(steadily ${CMAKE_CURRENT_LIST_DIR}/steadily)
set(puma_launch_support ${CMAKE_CURRENT_LIST_DIR})

# A launch test: its own ROS domain on the loopback interface (launch_support.py), a timeout for slow machines.
function(puma_add_launch_test name seconds)
  add_launch_test(${name}.py TARGET ${name} TIMEOUT ${seconds} PYTHON_EXECUTABLE ${steadily}
    APPEND_ENV PYTHONPATH=${CMAKE_CURRENT_SOURCE_DIR}:${puma_launch_support}
    ENV
    PYTHONDONTWRITEBYTECODE=1)
endfunction()
# A test that starts its launches itself.
function(puma_add_launching_test name seconds)
  set(Python3_EXECUTABLE ${steadily})
  ga_add_pytest(${name} PYTHONDONTWRITEBYTECODE=1 PUMA_LAUNCH_SUPPORT=${puma_launch_support})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${seconds})
endfunction()
