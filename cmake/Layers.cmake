# add_layer(NAME USES TARGETS... [PIECES N]): a static library of src/NAME/**.cpp that needs no
# LibTorch.
function(add_layer name)
  cmake_parse_arguments(ARG "TORCH" "PIECES" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(ARG_TORCH)  # see add_kinds
    list(FILTER sources EXCLUDE REGEX "_config\\.cpp$")
  endif()
  add_library(difflab_${name} STATIC ${sources})
  target_link_libraries(difflab_${name} PUBLIC difflab_options ${ARG_USES})
  compile_together(difflab_${name} difflab_pch ${ARG_PIECES})
endfunction()

# add_kinds(ROOMS...): difflab_kinds, what the driver must know of a kind (its checks, sizes and
# costs) from the rooms that otherwise need LibTorch: src/ROOM/**/*_config.cpp. So it checks every run
# of a sweep without loading LibTorch.
function(add_kinds)
  set(sources)
  foreach(room ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*_config.cpp)
    list(APPEND sources ${found})
  endforeach()
  add_library(difflab_kinds STATIC ${sources})
  target_link_libraries(difflab_kinds PUBLIC difflab_config difflab_text)
  compile_together(difflab_kinds difflab_pch)
endfunction()

# compile_together(TARGET PCH [PIECES]): most of what a file costs is reading headers and making the
# same templates again (docs/decisions/0006-build-time.md), so its files are compiled in a few pieces
# (one, unless said otherwise), with the precompiled header of PCH. Hence a name in an anonymous
# namespace may stand once in a room; DIFFLAB_WHOLE_ROOMS makes sure of it. CMAKE_UNITY_BUILD=OFF
# compiles each file for itself, as tests/compiles_alone does.
function(compile_together target pch)
  target_precompile_headers(${target} REUSE_FROM ${pch})
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  set(pieces 1)
  if(ARGN AND NOT DIFFLAB_WHOLE_ROOMS)
    set(pieces ${ARGN})
  endif()
  math(EXPR size "(${count} + ${pieces} - 1) / ${pieces}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# add_precompiled(NAME USES TARGETS... HEADERS HEADERS...): a precompiled header for others to reuse.
function(add_precompiled name)
  cmake_parse_arguments(ARG "" "" "USES;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PUBLIC difflab_options ${ARG_USES})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

# The same for a layer that works with tensors. All of them share one precompiled header, which takes
# 30 s once. It holds what most of them need and no more: with torch/torch.h in it a file takes 10 s.
function(add_torch_layer name)
  add_layer(${name} TORCH ${ARGN})
  target_link_libraries(difflab_${name} PUBLIC difflab_torch)
  target_precompile_headers(difflab_${name} REUSE_FROM difflab_torch_pch)
endfunction()

# The version that a folder's TorchConfigVersion.cmake names; empty without one.
function(version_of_torch folder found)
  set(version "")
  if(EXISTS ${folder}/TorchConfigVersion.cmake)
    file(STRINGS ${folder}/TorchConfigVersion.cmake version REGEX "set\\(PACKAGE_VERSION ")
    string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" version "${version}")
  endif()
  set(${found} "${version}" PARENT_SCOPE)
endfunction()

# Finds LibTorch >= 2.6: Torch_DIR, Torch_ROOT or CMAKE_PREFIX_PATH, given or in the environment, then
# the project's .venv, then the torch that python3 imports, then Debian's libtorch-dev. Defines difflab_torch, with its headers as
# system headers (no warnings). LibTorch's own configuration is not loaded: one built with CUDA demands
# the toolkit with its compiler, which we do not need and a machine with a driver need not have.
function(find_torch)
  string(REPLACE ":" ";" prefixes "$ENV{CMAKE_PREFIX_PATH}")
  find_path(config TorchConfig.cmake NO_CACHE NO_DEFAULT_PATH PATH_SUFFIXES share/cmake/Torch Torch
            PATHS ${Torch_DIR} $ENV{Torch_DIR} ${Torch_ROOT} $ENV{Torch_ROOT} ${CMAKE_PREFIX_PATH} ${prefixes})
  if(config)
    version_of_torch(${config} version)
    if(version VERSION_LESS 2.6)
      message(STATUS "LibTorch ${version} in ${config} is passed over; 2.6 or later is needed")
      unset(config)
    endif()
  endif()
  foreach(python ${PROJECT_SOURCE_DIR}/.venv/bin/python python3)
    if(NOT config)
      execute_process(COMMAND ${python} -c "import torch; print(torch.utils.cmake_prefix_path, end='')"
                      OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE missing)
      if(NOT missing AND EXISTS ${found}/Torch/TorchConfig.cmake)
        set(config ${found}/Torch)
      endif()
    endif()
  endforeach()
  set(of_debian /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Torch)
  if(NOT config AND EXISTS ${of_debian}/TorchConfig.cmake)
    set(config ${of_debian})
  endif()
  get_filename_component(root "${config}/../../.." ABSOLUTE)
  set(libraries ${root}/lib)
  if(config MATCHES "/lib/[^/]+/cmake/Torch/?$")  # a multiarch folder, as Debian has it
    get_filename_component(libraries "${config}/../.." ABSOLUTE)
    get_filename_component(root "${config}/../../../.." ABSOLUTE)
  endif()
  if(NOT EXISTS "${config}/TorchConfigVersion.cmake" OR NOT EXISTS "${libraries}/libtorch_cpu.so")
    message(FATAL_ERROR "LibTorch 2.6 or later, in shared libraries, is needed and was not found "
      "(${config}); set Torch_DIR to its share/cmake/Torch, or let ./difflab install it")
  endif()
  set(Torch_DIR ${config} CACHE PATH "share/cmake/Torch of a LibTorch >= 2.6" FORCE)
  # Another LibTorch in the same place is looked at again.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${config}/TorchConfig.cmake ${config}/TorchConfigVersion.cmake)
  version_of_torch(${config} version)
  if(version VERSION_LESS 2.6)
    message(FATAL_ERROR "LibTorch in ${root} is ${version}; 2.6 or later is needed")
  endif()

  add_library(difflab_torch INTERFACE)
  target_include_directories(difflab_torch SYSTEM INTERFACE
    ${root}/include ${root}/include/torch/csrc/api/include)
  # Which layout of std::string its symbols were made for.
  file(STRINGS ${config}/TorchConfig.cmake abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(abi)
    target_compile_definitions(difflab_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
  endif()
  set(with "for the CPU")
  if(EXISTS ${libraries}/libtorch_cuda.so)
    set(with "with CUDA")
    use_torch_cuda(${root})
  endif()
  # Without libtorch.so, which holds nothing that we call. That of 2.11 for CUDA exports a
  # std::filesystem::remove_all that calls address 0 (pytorch issue 133437 weakened its parts).
  target_link_libraries(difflab_torch INTERFACE ${libraries}/libtorch_cpu.so ${libraries}/libc10.so)
  message(STATUS "Found LibTorch ${version} ${with}: ${root}")
endfunction()

# Adds to difflab_torch what a LibTorch with CUDA needs: its library, and the headers of CUDA's runtime
# (for graphs and the device's name) where they are complete and recent.
function(use_torch_cuda root)
  # Nothing need refer to it: it registers itself when it is loaded.
  target_link_libraries(difflab_torch INTERFACE
    "-Wl,--push-state,--no-as-needed" ${root}/lib/libtorch_cuda.so "-Wl,--pop-state")
  add_compile_definitions(DIFFLAB_TORCH_HAS_CUDA)  # the driver, which does not load it, knows, too
  file(GLOB wheels ${root}/../nvidia/cu*/include ${root}/../nvidia/cuda_runtime/include)
  find_path(cuda crt/host_config.h NO_CACHE NO_DEFAULT_PATH
            PATHS ${wheels} $ENV{CUDA_HOME}/include /usr/local/cuda/include)
  set(found 0)
  if(EXISTS "${cuda}/cuda_runtime_api.h")
    file(STRINGS ${cuda}/cuda_runtime_api.h found REGEX "define CUDART_VERSION ")
    string(REGEX MATCH "[0-9]+$" found "${found}")
  endif()
  get_filename_component(folder "${cuda}" REALPATH)  # a toolkit's include/ is a link
  file(GLOB runtime ${folder}/../lib*/libcudart.so*)
  if(runtime AND found GREATER_EQUAL 12040)  # older ones declare a smaller CUDAGraph
    list(GET runtime 0 runtime)
    get_filename_component(runtime ${runtime} ABSOLUTE)
    target_include_directories(difflab_torch SYSTEM INTERFACE ${cuda})
    target_compile_definitions(difflab_torch INTERFACE DIFFLAB_CUDA_HEADERS)
    target_link_libraries(difflab_torch INTERFACE ${root}/lib/libc10_cuda.so ${runtime})
  else()
    message(STATUS "CUDA's headers were not found in full (CUDA_HOME): no cuda_graph")
  endif()
endfunction()
