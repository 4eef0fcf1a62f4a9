# The targets of the adapter headers, each where its library is found: ga_dynamics::eigen (eigen.hpp), ga_dynamics::urdfdom
# (urdfdom.hpp) and ga_dynamics::kdl (kdl.hpp). Used by ga_dynamics itself and by find_package(ga_dynamics).

# ga_add_adapter(NAME LIBRARIES…): the libraries' headers are not ours to warn about, as of any imported target.
function(ga_add_adapter name)
  if(NOT TARGET ga_dynamics::${name})
    add_library(ga_dynamics::${name} INTERFACE IMPORTED GLOBAL)
    set_target_properties(ga_dynamics::${name} PROPERTIES INTERFACE_LINK_LIBRARIES "ga_dynamics::ga_dynamics;${ARGN}")
  endif()
endfunction()

find_package(Eigen3 QUIET)
if(TARGET Eigen3::Eigen)
  ga_add_adapter(eigen Eigen3::Eigen)
endif()

find_package(urdfdom_headers QUIET)
if(TARGET urdfdom_headers::urdfdom_headers)
  ga_add_adapter(urdfdom urdfdom_headers::urdfdom_headers)
endif()

# No -march flags with KDL: Debian's is built without, and Eigen's types would not fit across.
find_package(orocos_kdl QUIET)
if(orocos_kdl_FOUND AND TARGET Eigen3::Eigen)
  find_library(GA_KDL_LIBRARY orocos-kdl HINTS ${orocos_kdl_LIBRARY_DIRS})
  mark_as_advanced(GA_KDL_LIBRARY)
  if(GA_KDL_LIBRARY)
    ga_add_adapter(kdl ${GA_KDL_LIBRARY} Eigen3::Eigen)
    set_property(TARGET ga_dynamics::kdl PROPERTY INTERFACE_INCLUDE_DIRECTORIES ${orocos_kdl_INCLUDE_DIRS})
  endif()
endif()
