# The `ga` command, the examples and the benchmark.

if(NOT GA_TOOLS)
  return()
endif()

# The papers' experiments with the methods that they compare, for `ga experiments`, an example and the tests.
add_library(ga_experiments STATIC
  src/experiments/hydraulic_arm.cpp
  src/experiments/line_torques.cpp
  src/experiments/paper_puma.cpp
  src/experiments/straight_line.cpp
  src/experiments/two_link.cpp)
target_include_directories(ga_experiments PUBLIC src)
target_include_directories(ga_experiments SYSTEM PRIVATE ${EIGEN3_INCLUDE_DIRS})
target_link_libraries(ga_experiments PUBLIC ga_motion::ga_motion)

add_executable(ga
  src/cli/description.cpp
  src/cli/experiment_lines.cpp
  src/cli/experiments.cpp
  src/cli/info_json.cpp
  src/cli/info_text.cpp
  src/cli/main.cpp
  src/cli/output.cpp
  src/cli/rows.cpp)
target_include_directories(ga PRIVATE src)
target_include_directories(ga SYSTEM PRIVATE ${CLI11_INCLUDE_DIR})  # our warnings are not for CLI11
target_compile_definitions(ga PRIVATE GA_VERSION="${PROJECT_VERSION}")
target_link_libraries(ga PRIVATE ga_tools ga_experiments nlohmann_json::nlohmann_json)
# bin for the shell, lib/ga_tools for `ros2 run`; both find the libraries without an environment.
ga_find_libraries(ga)
install(TARGETS ga RUNTIME DESTINATION bin)
install(TARGETS ga RUNTIME DESTINATION lib/${PROJECT_NAME})

add_executable(free_swing examples/free_swing.cpp)
target_link_libraries(free_swing PRIVATE ga_dynamics::ga_dynamics)
ga_find_libraries(free_swing)
install(TARGETS free_swing RUNTIME DESTINATION lib/${PROJECT_NAME})

add_executable(valve_closure examples/valve_closure.cpp)
target_link_libraries(valve_closure PRIVATE ga_experiments)
ga_find_libraries(valve_closure)
install(TARGETS valve_closure RUNTIME DESTINATION lib/${PROJECT_NAME})

# The law score.
find_package(Threads REQUIRED)
add_library(ga_score STATIC
  src/score/baseline.cpp
  src/score/figures.cpp
  src/score/laws.cpp
  src/score/motions.cpp
  src/score/page.cpp
  src/score/pid_sweep.cpp
  src/score/run.cpp
  src/score/scenario.cpp
  src/score/score.cpp
  src/score/stiction.cpp
  src/score/table.cpp)
target_include_directories(ga_score PUBLIC src)
target_link_libraries(ga_score PUBLIC ga_tools nlohmann_json::nlohmann_json Threads::Threads)
add_executable(bench_laws bench/bench_laws.cpp)
target_include_directories(bench_laws SYSTEM PRIVATE ${CLI11_INCLUDE_DIR})  # our warnings are not for CLI11
target_compile_definitions(bench_laws PRIVATE GA_ROBOTS="${GA_ROBOTS}")
target_link_libraries(bench_laws PRIVATE ga_score)
ga_find_libraries(bench_laws)
install(TARGETS bench_laws RUNTIME DESTINATION lib/${PROJECT_NAME})

# Paths timed by motor torque.
add_executable(bench_timing bench/bench_timing.cpp)
target_include_directories(bench_timing PRIVATE src)
target_include_directories(bench_timing SYSTEM PRIVATE ${CLI11_INCLUDE_DIR})  # our warnings are not for CLI11
target_link_libraries(bench_timing PRIVATE ga_tools)
ga_find_libraries(bench_timing)
install(TARGETS bench_timing RUNTIME DESTINATION lib/${PROJECT_NAME})

# The speed table.
find_package(benchmark QUIET)
if(benchmark_FOUND AND TARGET ga_dynamics::kdl)
  add_executable(ga_bench bench/ga_bench.cpp bench/law_cycles.cpp)
  target_compile_definitions(ga_bench PRIVATE GA_ROBOTS="${GA_ROBOTS}")
  target_link_libraries(ga_bench PRIVATE ga_tools ga_dynamics::kdl benchmark::benchmark)
  ga_find_libraries(ga_bench)
  install(TARGETS ga_bench RUNTIME DESTINATION lib/${PROJECT_NAME})
  file(REMOVE ${PROJECT_BINARY_DIR}/not_built.txt)
else()
  file(WRITE ${PROJECT_BINARY_DIR}/not_built.txt "ga_bench: Google Benchmark or Orocos KDL not found\n")
endif()
