# The ros2_control shell of simulated and real arms, and the simulated hardware, if ros2_control is installed. A
# separate library in a separate export set, so that users of the plain library do not depend on ROS 2.

foreach(package hardware_interface pluginlib diagnostic_updater rclcpp realtime_tools rosgraph_msgs std_srvs)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    file(WRITE ${PROJECT_BINARY_DIR}/not_built.txt
      "${PROJECT_NAME}: simulated hardware for ros2_control (${package} not found; install ROS 2 with ros2_control and "
      "diagnostics)\n")
    return()
  endif()
endforeach()
file(REMOVE ${PROJECT_BINARY_DIR}/not_built.txt)

add_library(ga_hardware_plugins SHARED
  src/plugins/arm_interfaces.cpp
  src/plugins/arm_system.cpp
  src/plugins/effort_commands.cpp
  src/plugins/shell_node.cpp
  src/plugins/sim_clock.cpp
  src/plugins/sim_settings.cpp
  src/plugins/sim_system.cpp)
target_link_libraries(ga_hardware_plugins PUBLIC ga_hardware hardware_interface::hardware_interface
  pluginlib::pluginlib diagnostic_updater::diagnostic_updater rclcpp::rclcpp realtime_tools::realtime_tools
  ${rosgraph_msgs_TARGETS} ${std_srvs_TARGETS})
target_include_directories(ga_hardware_plugins PRIVATE src)
ga_find_libraries(ga_hardware_plugins)
target_include_directories(ga_hardware_plugins PUBLIC $<INSTALL_INTERFACE:include/${PROJECT_NAME}>)
install(TARGETS ga_hardware_plugins EXPORT export_ga_hardware_plugins LIBRARY DESTINATION lib)
# For packages with their own hardware: find_package() the packages above, then include this file.
install(EXPORT export_ga_hardware_plugins NAMESPACE ga_hardware:: DESTINATION share/${PROJECT_NAME}/cmake)
pluginlib_export_plugin_description_file(hardware_interface ga_hardware.xml)
