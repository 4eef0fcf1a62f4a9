# Tests of the hardware plugins, each on hardware_interface's own component and a real ROS node.
find_package(GTest REQUIRED)
foreach(name test_arm_system test_arm_system_faults test_arm_system_ports test_arm_system_realtime
    test_effort_switches test_sim_system
    test_sim_system_faults test_sim_system_realtime)
  add_executable(${name} test/${name}.cpp test/ros_main.cpp)
  target_link_libraries(${name} PRIVATE puma_hardware_plugins GTest::gtest)
  target_compile_definitions(${name} PRIVATE GA_ROBOTS="${GA_ROBOTS}"
    PUMA_URDF="${PROJECT_SOURCE_DIR}/../puma_description/urdf/puma560.urdf")
  ga_add_gtest(${name})
endforeach()
ga_count_allocations(test_arm_system_realtime)
ga_count_allocations(test_sim_system_realtime)

add_executable(test_arm_system_owner test/test_arm_system_owner.cpp test/ros_main.cpp)
target_link_libraries(test_arm_system_owner PRIVATE puma_hardware_plugins GTest::gtest)
target_compile_definitions(test_arm_system_owner PRIVATE GA_ROBOTS="${GA_ROBOTS}"
  PUMA_URDF="${PROJECT_SOURCE_DIR}/../puma_description/urdf/puma560.urdf")
ga_add_gtest(test_arm_system_owner)
