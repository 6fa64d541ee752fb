// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

namespace mapsim {

// The least memory limit [B] of the control groups of a process, of version 2 or 1: its own and
// those that this one is in. The largest number where none limits it. `groups`: its list of groups
// (/proc/self/cgroup); `root`: where the groups are mounted (/sys/fs/cgroup). In a container the
// root may be its own group, whatever the list says.
std::size_t cgroup_bytes(const std::string& groups, const std::string& root);

}  // namespace mapsim
