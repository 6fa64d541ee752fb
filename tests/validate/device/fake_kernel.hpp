// SPDX-License-Identifier: Apache-2.0
// What fake_cuda.cpp knows of generated kernels: constants in their text, and what they compute.
#pragma once
#include <cstddef>
#include <string>

namespace fake {

long long number(const std::string& text, const std::string& name);  // int NAME = value; 0: none
bool flag(const std::string& text, const std::string& name);         // bool NAME = true
std::string type(const std::string& text, const std::string& name);  // using NAME = type

// Elements by the names of their types in the text.
std::size_t size_of(const std::string& type);
double load(const unsigned char* at, const std::string& type);
void store(unsigned char* at, const std::string& type, double value);

// KernelArguments of validate/kernels/source.hpp.
struct Arguments {
  const unsigned char* a;
  const unsigned char* b;
  const void* bias;
  unsigned char* c;
  void* workspace;
  long long batch_a, batch_b, batch_bias, batch_c;
};

// The product that the text `t` stands for, plainly; with one element off by one if `is_bad`, with
// sums in half precision if `is_coarse`.
void multiply(const std::string& t, const Arguments& arguments, bool is_bad, bool is_coarse);

// The device of fake_cuda.cpp: the host asks for something and takes so long about it; the device
// is at work; a line of the log; has somebody marked this result, to look at it?
void ask(double host_seconds);
void pass(double seconds);
void log(const std::string& line);
bool breaks(const std::string& name);  // lost=TEXT, hang=TEXT where TEXT is in `name`
bool is_poisoned(const unsigned char* at);

}  // namespace fake
