# The controller manager for MoveIt, if it is installed.

foreach(package control_msgs controller_manager_msgs moveit_msgs pluginlib rclcpp rclcpp_action moveit_core)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    file(APPEND ${PROJECT_BINARY_DIR}/not_built.txt
      "${PROJECT_NAME}: controller manager for MoveIt (${package} not found; install ROS 2 with MoveIt)\n")
    return()
  endif()
endforeach()

add_library(ga_controllers_moveit SHARED
  src/moveit/chained_controller_manager.cpp
  src/moveit/controller_chains.cpp)
target_include_directories(ga_controllers_moveit PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(ga_controllers_moveit PRIVATE
  moveit_core::moveit_macros
  ${moveit_msgs_TARGETS}
  pluginlib::pluginlib
  rclcpp::rclcpp
  rclcpp_action::rclcpp_action
  ${control_msgs_TARGETS}
  ${controller_manager_msgs_TARGETS})
# MoveIt's loader looks for plugins under moveit_core.
pluginlib_export_plugin_description_file(moveit_core ga_controllers_moveit.xml)
# Loaded by name, never linked: not exported.
install(TARGETS ga_controllers_moveit LIBRARY DESTINATION lib)
