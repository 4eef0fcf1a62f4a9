# What all packages of the suite share: language, warnings, sanitizers, tests, export. Installed with ga_dynamics.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# What users give is checked for not-a-number. Flags that let the compiler assume there is none remove those checks; the
# kernels of ga_dynamics alone are compiled so, and made for it.
string(TOUPPER "${CMAKE_BUILD_TYPE}" ga_build_type)
foreach(ga_flags "${CMAKE_CXX_FLAGS}" "${CMAKE_CXX_FLAGS_${ga_build_type}}")
  if(ga_flags MATCHES "-(Ofast|ffast-math|ffinite-math-only)")
    message(FATAL_ERROR "-${CMAKE_MATCH_1} in the compiler flags removes the checks for values that are not finite; "
      "build without it")
  endif()
endforeach()

option(GA_WERROR "Treat warnings as errors" OFF)
set(GA_SANITIZE "" CACHE STRING "Sanitizers for all targets, e.g. address,undefined")
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # false positives on string concatenation, GCC bug 105651
endif()
if(GA_WERROR)
  add_compile_options(-Werror)
endif()
if(GA_SANITIZE)
  add_compile_options(-fsanitize=${GA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GA_SANITIZE})
  # Libraries that come compiled, KDL among them, have Eigen on the C library's malloc. Under AddressSanitizer Eigen
  # would take another allocator here, and they would free what they never allocated.
  add_compile_definitions(EIGEN_MALLOC_ALREADY_ALIGNED=1)
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
# ament registers a package with the tools of ROS 2; without it (Ubuntu packages none) the packages are plain CMake.
find_package(ament_cmake QUIET)

# The robots that come with ga_dynamics: beside this file's package, installed or not.
get_filename_component(GA_ROBOTS "${CMAKE_CURRENT_LIST_DIR}/../robots" ABSOLUTE)
# What the tests of several packages use.
get_filename_component(GA_TEST_SUPPORT "${CMAKE_CURRENT_LIST_DIR}/../test_support" ABSOLUTE)

# Lets a test count allocations (counting_allocator.hpp).
function(ga_count_allocations name)
  target_sources(${name} PRIVATE ${GA_TEST_SUPPORT}/counting_allocator.cpp)
  target_include_directories(${name} PRIVATE ${GA_TEST_SUPPORT})
endfunction()

set(GA_TEST_RESULTS ${PROJECT_BINARY_DIR}/test_results/${PROJECT_NAME})

# Runs a GoogleTest program.
function(ga_add_gtest name)
  add_test(NAME ${name} COMMAND ${name} --gtest_output=xml:${GA_TEST_RESULTS}/${name}.gtest.xml)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

# Runs a pytest file of the current directory; further arguments are environment settings for it.
function(ga_add_pytest name)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider
    ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py --junit-xml=${GA_TEST_RESULTS}/${name}.xunit.xml)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${ARGN}")
endfunction()

# An example of the package, examples/NAME.cpp: it builds, README.md shows it as it is, and with the given arguments it
# prints what the README.md says behind it.
function(ga_add_example name)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/examples/${name}.cpp)
  target_link_libraries(${name} PRIVATE ${PROJECT_NAME})
  list(JOIN ARGN " " arguments)
  add_test(NAME test_${name} COMMAND ${Python3_EXECUTABLE} -m pytest -q -p no:cacheprovider
    ${GA_TEST_SUPPORT}/readme_example.py --junit-xml=${GA_TEST_RESULTS}/test_${name}.xunit.xml)
  set_tests_properties(test_${name} PROPERTIES TIMEOUT 300 ENVIRONMENT
    "PYTHONDONTWRITEBYTECODE=1;GA_SOURCE=${PROJECT_SOURCE_DIR}/examples/${name}.cpp;GA_EXAMPLE=$<TARGET_FILE:${name}> ${arguments}")
endfunction()
# The first one of every package.
function(ga_add_first_example)
  ga_add_example(first_example ${ARGN})
endfunction()

# Where libraries and programs of the suite look for its libraries without an environment: colcon's merged layout and its
# isolated one.
set(GA_RPATH "$ORIGIN;$ORIGIN/../lib")
foreach(ga_package ga_dynamics ga_motion ga_controllers ga_hardware ga_tools)
  list(APPEND GA_RPATH "$ORIGIN/../../${ga_package}/lib")
endforeach()
function(ga_find_libraries target)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON INSTALL_RPATH "${GA_RPATH}")
endfunction()

# A shared library PROJECT_NAME of the folder include/, installed to include/PROJECT_NAME as ROS 2 packages do.
macro(ga_install_library)
  target_compile_features(${PROJECT_NAME} PUBLIC cxx_std_20)
  target_include_directories(${PROJECT_NAME} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include/${PROJECT_NAME}>)
  ga_find_libraries(${PROJECT_NAME})
  install(DIRECTORY include/ DESTINATION include/${PROJECT_NAME})
  install(TARGETS ${PROJECT_NAME} EXPORT export_${PROJECT_NAME}
    ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
endmacro()

# Last in a CMakeLists.txt: exports export_${PROJECT_NAME}; arguments are packages that users of it need.
# The configuration that find_package() reads is plain CMake. ament_export_dependencies() would have users run the Python
# module ament_package with whichever interpreter comes first in their PATH.
macro(ga_export_package)
  set(ga_config "include(CMakeFindDependencyMacro)\n")
  foreach(ga_dependency ${ARGN})
    string(APPEND ga_config "find_dependency(${ga_dependency})\n")
  endforeach()
  string(APPEND ga_config "include(\${CMAKE_CURRENT_LIST_DIR}/export_${PROJECT_NAME}.cmake)\n")
  if(EXISTS ${PROJECT_SOURCE_DIR}/cmake/adapters.cmake)
    install(FILES cmake/adapters.cmake DESTINATION share/${PROJECT_NAME}/cmake)
    string(APPEND ga_config "include(\${CMAKE_CURRENT_LIST_DIR}/adapters.cmake)\n")
  endif()
  string(APPEND ga_config "set(${PROJECT_NAME}_TARGETS ${PROJECT_NAME}::${PROJECT_NAME})\n")
  install(EXPORT export_${PROJECT_NAME} NAMESPACE ${PROJECT_NAME}:: DESTINATION share/${PROJECT_NAME}/cmake)
  if(ament_cmake_FOUND)
    file(WRITE ${PROJECT_BINARY_DIR}/${PROJECT_NAME}_targets.cmake "${ga_config}")
    ament_environment_hooks("${ament_cmake_package_templates_ENVIRONMENT_HOOK_LIBRARY_PATH}")
    ament_package(CONFIG_EXTRAS ${PROJECT_BINARY_DIR}/${PROJECT_NAME}_targets.cmake)
  else()
    include(CMakePackageConfigHelpers)
    file(WRITE ${PROJECT_BINARY_DIR}/${PROJECT_NAME}Config.cmake "${ga_config}")
    write_basic_package_version_file(${PROJECT_BINARY_DIR}/${PROJECT_NAME}ConfigVersion.cmake
      COMPATIBILITY SameMinorVersion)
    install(FILES ${PROJECT_BINARY_DIR}/${PROJECT_NAME}Config.cmake
      ${PROJECT_BINARY_DIR}/${PROJECT_NAME}ConfigVersion.cmake DESTINATION share/${PROJECT_NAME}/cmake)
  endif()
endmacro()
