// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "core/edit_distance.hpp"
#include "core/file_kind.hpp"

namespace mapsim {

// The files that come with the tool, configs/, by name: "eyeriss" is arch/eyeriss.yaml there,
// "resnet50/conv2_3x3" is workloads/resnet50/conv2_3x3.yaml. Where a layer is named a chain may be
// named as well, and among mappings are those of chains.

// Folders that may be such a configs/: at and above `place`, as built and as installed.
std::vector<std::string> configs_above(const std::string& place);

// `path` if there is such a file; else the shipped file of that name, or that path
// (configs/arch/eyeriss.yaml), in the first of `configs` that has one; else `path`.
std::string find_shipped(const std::string& path, FileKind kind,
                         const std::vector<std::string>& configs);

// A file that another file in `folder` names: there, else shipped; else where it was looked for.
std::string find_named(const std::string& folder, const std::string& name, FileKind kind,
                       const std::vector<std::string>& configs);

// The names of a kind in all of `configs`, sorted.
Words shipped_names(FileKind kind, const std::vector<std::string>& configs);

// What is wrong with a name that no shipped file has: "no such file, and an architecture of that
// name is not shipped; did you mean 'eyeriss'?", or that files of another kind have it; empty for
// what is written as a path: with an ending, or from the root or this folder. `lister`: what lists
// the names, where none is near.
std::string unknown_name(const std::string& name, FileKind kind,
                         const std::vector<std::string>& configs,
                         const std::string& lister = "mapsim list");

}  // namespace mapsim
