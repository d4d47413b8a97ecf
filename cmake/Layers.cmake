# add_layer(NAME USES TARGETS...): a static library of src/NAME/**.cpp that needs no LibTorch.
# Files named *_config.cpp are left out: see add_run_config.
function(add_layer name)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_config\\.cpp$")
  add_library(difflab_${name} STATIC ${sources})
  target_link_libraries(difflab_${name} PUBLIC difflab_options ${ARG_USES})
endfunction()

# add_run_config(ROOMS...): difflab_run_config, the rules of the run's configuration from the rooms
# that else need LibTorch (src/ROOM/**/*_config.cpp), so that the driver can check every run of a
# sweep without loading it.
function(add_run_config)
  set(sources)
  foreach(room ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*_config.cpp)
    list(APPEND sources ${found})
  endforeach()
  add_library(difflab_run_config STATIC ${sources})
  target_link_libraries(difflab_run_config PUBLIC difflab_config)
endfunction()

# The same for a layer that works with tensors. All of them share one precompiled header, which takes
# 30 s once and leaves 4 s for a source file. It holds what most of them need and no more: with
# torch/torch.h in it a file takes 10 s.
function(add_torch_layer name)
  if(NOT TARGET difflab_torch_pch)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/torch_pch.cpp CONTENT "")
    add_library(difflab_torch_pch STATIC ${CMAKE_BINARY_DIR}/torch_pch.cpp)
    target_link_libraries(difflab_torch_pch PUBLIC difflab_options difflab_torch)
    target_precompile_headers(difflab_torch_pch PRIVATE
      <ATen/ATen.h> <torch/nn/module.h> <torch/nn/modules/container/modulelist.h>
      <torch/nn/modules/embedding.h> <torch/nn/modules/linear.h>)
  endif()
  add_layer(${name} ${ARGN})
  target_link_libraries(difflab_${name} PUBLIC difflab_torch)
  target_precompile_headers(difflab_${name} REUSE_FROM difflab_torch_pch)
endfunction()

# Finds LibTorch >= 2.6: Torch_DIR or CMAKE_PREFIX_PATH, then the project's .venv, then the torch
# that python3 imports. Defines difflab_torch, with its headers as system headers (no warnings).
macro(find_torch)
  foreach(python ${PROJECT_SOURCE_DIR}/.venv/bin/python python3)
    if(NOT Torch_DIR)
      execute_process(COMMAND ${python} -c "import torch; print(torch.utils.cmake_prefix_path, end='')"
                      OUTPUT_VARIABLE torch_prefix ERROR_QUIET RESULT_VARIABLE torch_missing)
      if(NOT torch_missing)
        list(APPEND CMAKE_PREFIX_PATH ${torch_prefix})
        find_package(Torch QUIET)
      endif()
    endif()
  endforeach()
  find_package(Torch 2.6 REQUIRED)
  separate_arguments(torch_flags NATIVE_COMMAND "${TORCH_CXX_FLAGS}")
  add_library(difflab_torch INTERFACE)
  target_include_directories(difflab_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_compile_options(difflab_torch INTERFACE ${torch_flags})
  target_link_libraries(difflab_torch INTERFACE ${TORCH_LIBRARIES})
endmacro()
