# The capability of move_group and the sampling of collisions, if MoveIt is installed (moveit.cmake).

if(NOT GA_MOTION_MOVEIT)
  return()
endif()

add_executable(sample_collisions src/moveit/sample_collisions.cpp)
target_link_libraries(sample_collisions PRIVATE moveit_core::moveit_planning_scene)
install(TARGETS sample_collisions DESTINATION lib/${PROJECT_NAME})

find_package(moveit_ros_move_group QUIET)
if(NOT moveit_ros_move_group_FOUND)
  file(APPEND ${PROJECT_BINARY_DIR}/not_built.txt
    "${PROJECT_NAME}: capability of move_group (moveit_ros_move_group not found; install ROS 2 with MoveIt)\n")
  return()
endif()
add_library(ga_motion_move_group SHARED src/moveit/move_action.cpp)
target_include_directories(ga_motion_move_group PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(ga_motion_move_group PRIVATE moveit_ros_move_group::moveit_move_group_capabilities_base)
ga_find_libraries(ga_motion_move_group)
pluginlib_export_plugin_description_file(moveit_ros_move_group ga_motion_move_group.xml)
install(TARGETS ga_motion_move_group LIBRARY DESTINATION lib)
