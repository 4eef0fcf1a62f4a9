# The controllers for ros2_control, if it is installed.

set(GA_CONTROLLERS_PLUGINS ON)
foreach(package controller_interface control_msgs ga_msgs generate_parameter_library hardware_interface pluginlib rclcpp_lifecycle
    realtime_tools std_srvs trajectory_msgs)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    set(GA_CONTROLLERS_PLUGINS OFF)
    file(WRITE ${PROJECT_BINARY_DIR}/not_built.txt
      "${PROJECT_NAME}: controllers for ros2_control (${package} not found; install ROS 2 with ros2_control)\n")
    return()
  endif()
endforeach()
file(REMOVE ${PROJECT_BINARY_DIR}/not_built.txt)

# In a function's scope: the generator calls ament_export_dependencies(), which would make users of the laws depend on ROS 2
# (see ga_export_package()).
function(ga_generate_parameters)
  generate_parameter_library(law_controller_parameters src/plugins/law_controller_parameters.yaml)
endfunction()
ga_generate_parameters()
# Do not apply our warnings to generated code.
get_target_property(generated law_controller_parameters INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(law_controller_parameters SYSTEM INTERFACE ${generated})

add_library(ga_controllers_plugins SHARED
  src/plugins/arm_model.cpp
  src/plugins/arm_payload.cpp
  src/plugins/controllers.cpp
  src/plugins/law_controller.cpp
  src/plugins/live_gains.cpp
  src/plugins/live_payload.cpp
  src/plugins/notice.cpp
  src/plugins/reference_input.cpp
  src/plugins/set_point.cpp
  src/plugins/state_message.cpp
  src/plugins/state_publisher.cpp)
target_include_directories(ga_controllers_plugins
  PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/src/plugins PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
target_link_libraries(ga_controllers_plugins PUBLIC
  ga_controllers
  law_controller_parameters
  controller_interface::controller_interface
  hardware_interface::hardware_interface
  pluginlib::pluginlib
  rclcpp_lifecycle::rclcpp_lifecycle
  realtime_tools::realtime_tools
  ${control_msgs_TARGETS}
  ${ga_msgs_TARGETS}
  ${std_srvs_TARGETS}
  ${trajectory_msgs_TARGETS})

pluginlib_export_plugin_description_file(controller_interface ga_controllers_plugins.xml)
# Loaded by name, never linked: not exported.
install(TARGETS ga_controllers_plugins LIBRARY DESTINATION lib)
