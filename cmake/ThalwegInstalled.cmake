# SPDX-License-Identifier: Apache-2.0
# Finds an installed library of this version, so that the Python package need not compile one.
# Afterwards thalweg_FOUND tells if there is one.
set(THALWEG_PREFIX
    ""
    CACHE STRING "For the Python package, an installed library: its folder | AUTO (if one is found) | \
empty (compile it)")
if(NOT THALWEG_BUILD_PYTHON OR NOT THALWEG_PREFIX)
    return()
endif()

unset(thalweg_DIR CACHE) # of an earlier choice
if(THALWEG_PREFIX STREQUAL "AUTO")
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
        pkg_get_variable(thalweg_libdir thalweg libdir)
    endif()
    find_package(thalweg ${PROJECT_VERSION} EXACT QUIET CONFIG HINTS "${thalweg_libdir}/cmake")
else()
    find_package(thalweg ${PROJECT_VERSION} EXACT QUIET CONFIG PATHS "${THALWEG_PREFIX}"
                 NO_DEFAULT_PATH)
endif()

set(thalweg_problem "")
if(thalweg_FOUND AND THALWEG_MPI AND NOT thalweg_HAS_MPI)
    set(thalweg_problem "it is without MPI; -DTHALWEG_MPI=OFF makes such a package")
elseif(thalweg_FOUND AND NOT THALWEG_MPI AND thalweg_HAS_MPI)
    set(thalweg_problem "it is with MPI, but THALWEG_MPI is OFF")
elseif(thalweg_FOUND)
elseif(thalweg_NOT_FOUND_MESSAGE)
    set(thalweg_problem "${thalweg_NOT_FOUND_MESSAGE}")
elseif(thalweg_CONSIDERED_VERSIONS)
    list(REMOVE_DUPLICATES thalweg_CONSIDERED_VERSIONS)
    list(JOIN thalweg_CONSIDERED_VERSIONS " and " thalweg_versions)
    set(thalweg_problem "its version is ${thalweg_versions}, not ${PROJECT_VERSION}")
elseif(NOT THALWEG_PREFIX STREQUAL "AUTO")
    set(thalweg_problem "there is none")
endif()
if(thalweg_problem AND NOT THALWEG_PREFIX STREQUAL "AUTO")
    message(FATAL_ERROR "the library in THALWEG_PREFIX=${THALWEG_PREFIX} cannot be used: "
                        "${thalweg_problem}")
elseif(thalweg_problem)
    set(thalweg_FOUND OFF)
    message(STATUS "the installed library is not used: ${thalweg_problem}")
elseif(thalweg_FOUND)
    message(STATUS "the Python package uses the installed library of ${thalweg_DIR}")
    if(NOT thalweg_HAS_MPI)
        include(ThalwegSerial)
    endif()
endif()
