# Tests of the hardware plugins, each on hardware_interface's own component and a real ROS node.
find_package(GTest REQUIRED)
foreach(name test_sim_system test_sim_system_faults test_sim_system_realtime)
  add_executable(${name} test/${name}.cpp test/ros_main.cpp)
  target_link_libraries(${name} PRIVATE puma_hardware_plugins GTest::gtest)
  target_compile_definitions(${name} PRIVATE GA_ROBOTS="${GA_ROBOTS}"
    PUMA_URDF="${PROJECT_SOURCE_DIR}/../puma_description/urdf/puma560.urdf")
  ga_add_gtest(${name})
endforeach()
set(counting_allocator ${PROJECT_SOURCE_DIR}/../ga_controllers/test)
target_sources(test_sim_system_realtime PRIVATE ${counting_allocator}/counting_allocator.cpp)
target_include_directories(test_sim_system_realtime PRIVATE ${counting_allocator})
