# Tests of the hardware plugins, each on hardware_interface's own component and a real ROS node.
find_package(GTest REQUIRED)
foreach(name test_arm_conformance test_arm_system test_arm_system_faults test_arm_system_owner test_arm_system_ports
    test_arm_system_realtime test_calibration_action test_sim_alias)
  add_executable(${name} test/${name}.cpp ${GA_HARDWARE_TEST_SUPPORT}/ros_main.cpp)
  target_include_directories(${name} PRIVATE ${GA_HARDWARE_TEST_SUPPORT})
  target_link_libraries(${name} PRIVATE puma_hardware_plugins GTest::gtest)
  target_compile_definitions(${name} PRIVATE GA_ROBOTS="${GA_ROBOTS}"
    PUMA_URDF="${PROJECT_SOURCE_DIR}/../puma_description/urdf/puma560.urdf")
  ga_add_gtest(${name})
  # One at a time: their nodes have the same name, and a fault injected by one would reach the others.
  set_tests_properties(${name} PROPERTIES RESOURCE_LOCK puma560)
endforeach()
ga_count_allocations(test_arm_system_realtime)
