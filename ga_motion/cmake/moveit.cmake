# The plugins for MoveIt, if it is installed.

foreach(package pluginlib rclcpp tf2_eigen urdfdom_headers moveit_core)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    file(WRITE ${PROJECT_BINARY_DIR}/not_built.txt
      "${PROJECT_NAME}: plugins for MoveIt (${package} not found; install ROS 2 with MoveIt)\n")
    return()
  endif()
endforeach()
file(REMOVE ${PROJECT_BINARY_DIR}/not_built.txt)
set(GA_MOTION_MOVEIT ON)

add_library(ga_motion_moveit SHARED
  src/moveit/arm_of_model.cpp
  src/moveit/check_goal.cpp
  src/moveit/check_torques.cpp
  src/moveit/closed_form_kinematics.cpp
  src/moveit/goal_state.cpp
  src/moveit/motor_torques.cpp
  src/moveit/nearest_goal.cpp
  src/moveit/torque_limited_timing.cpp)
target_include_directories(ga_motion_moveit PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(ga_motion_moveit PRIVATE
  ga_motion
  ga_dynamics::urdfdom
  moveit_core::moveit_kinematics_base
  moveit_core::moveit_kinematic_constraints
  moveit_core::moveit_planning_interface
  moveit_core::moveit_planning_scene
  moveit_core::moveit_robot_trajectory
  moveit_core::moveit_trajectory_processing
  pluginlib::pluginlib
  rclcpp::rclcpp
  tf2_eigen::tf2_eigen)
ga_find_libraries(ga_motion_moveit)
# MoveIt's loaders look for plugins under moveit_core.
pluginlib_export_plugin_description_file(moveit_core ga_motion_moveit.xml)
# Loaded by name, never linked: not exported.
install(TARGETS ga_motion_moveit LIBRARY DESTINATION lib)
