// SPDX-License-Identifier: Apache-2.0
const char* home() {
  try {
    return std::getenv("HOME");
  } catch (...) {
    return nullptr;
  }
}
