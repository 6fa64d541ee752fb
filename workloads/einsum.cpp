// SPDX-License-Identifier: Apache-2.0
#include "workloads/einsum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/ascii.hpp"
#include "core/edit_distance.hpp"
#include "core/reader.hpp"

namespace mapsim {
namespace {

struct Token {
  enum class Kind { kName, kNumber, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  std::size_t offset = 0;
};

struct SyntaxProblem {
  EquationProblem problem;
};

[[noreturn]] void fail(std::size_t offset, const std::string& what) {
  throw SyntaxProblem{{offset, what}};
}

bool is_word(char c) { return is_name(std::string_view{&c, 1}) || is_digit(c); }

// An equation has names without '.' and '-', which would read like operators.
std::vector<Token> tokenize(const std::string& text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (text[i] == ' ' || text[i] == '\n' || text[i] == '\t') {
      ++i;
      continue;
    }
    Token::Kind kind = Token::Kind::kSymbol;
    if (is_word(text[i])) {
      kind = is_digit(text[i]) ? Token::Kind::kNumber : Token::Kind::kName;
      // 2p is the number 2 and the name p.
      const auto part = kind == Token::Kind::kNumber ? is_digit : is_word;
      i = static_cast<std::size_t>(
          std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), part) -
          text.begin());
    } else {
      i += text.compare(i, 2, "+=") == 0 || text.compare(i, 2, "->") == 0 ? 2 : 1;
    }
    tokens.push_back({kind, text.substr(begin, i - begin), begin});
  }
  tokens.push_back({Token::Kind::kEnd, "", text.size()});
  return tokens;
}

// Whether an equation is in numpy's notation: ik,kj->ij.
bool is_subscripts(const std::string& text) {
  const auto has = [&text](const char* part) { return text.find(part) != std::string::npos; };
  return !has("[") && !has("+=") && (has("->") || has(","));
}

constexpr std::int64_t kMaxCombinations = 1 << 16;

std::string describe(const Token& token) {
  return token.kind == Token::Kind::kEnd ? "the end" : quoted(token.text);
}

class Parser {
 public:
  Parser(const std::string& text, const std::vector<Dim>& dims)
      : tokens_{tokenize(text)}, dims_{dims}, is_subscripts_{is_subscripts(text)} {}

  std::variant<Workload, std::vector<EquationProblem>> parse() {
    try {
      is_subscripts_ ? subscripts() : assignment();
    } catch (const SyntaxProblem& syntax) {
      problems_.push_back(syntax.problem);
      return problems_;
    }
    take_dims();
    if (!problems_.empty()) {
      return problems_;
    }
    return workload_;
  }

 private:
  const Token& peek() const { return tokens_[next_]; }
  bool accept(std::string_view symbol) {
    const bool found = peek().kind == Token::Kind::kSymbol && peek().text == symbol;
    next_ += found ? 1 : 0;
    return found;
  }
  void expect(std::string_view symbol, std::string_view where) {
    if (!accept(symbol)) {
      fail(peek().offset, fmt::format("expected '{}' {}, not {}", symbol, where, describe(peek())));
    }
  }
  Token name(std::string_view what) {
    if (peek().kind != Token::Kind::kName) {
      fail(peek().offset, fmt::format("expected {}, not {}", what, describe(peek())));
    }
    return tokens_[next_++];
  }
  void problem(std::size_t offset, const std::string& what) { problems_.push_back({offset, what}); }

  // assignment := tensor '+=' tensor ('*' tensor)*
  void assignment() {
    Tensor output = tensor();
    output.role = Role::kOutput;
    expect("+=", "after the output");
    do {
      operand(tensor());
    } while (accept("*"));
    if (peek().kind != Token::Kind::kEnd) {
      fail(peek().offset,
           fmt::format("expected '*' and another operand, or the end, not {}", describe(peek())));
    }
    workload_.tensors.push_back(std::move(output));
  }

  // subscripts := letters (',' letters)* '->' letters: ik,kj->ij is Z[i][j] += A[i][k] * B[k][j]
  void subscripts() {
    for (char name = 'A'; name == 'A' || accept(","); ++name) {
      operand(letters({name}, fmt::format("operand {}", name - 'A' + 1)));
    }
    expect("->", "before the indices of the result");
    Tensor output = letters("Z", "the result");
    output.role = Role::kOutput;
    if (peek().kind != Token::Kind::kEnd) {
      fail(peek().offset, fmt::format("expected a letter, or the end, not {}", describe(peek())));
    }
    workload_.tensors.push_back(std::move(output));
  }

  // letters := LETTER*, each a dim. `told`: the tensor as errors call it.
  Tensor letters(const std::string& name, const std::string& told) {
    Tensor result;
    result.name = name;
    DimSet seen;
    while (peek().kind == Token::Kind::kName) {
      const Token& word = tokens_[next_++];
      for (std::size_t i = 0; i < word.text.size(); ++i) {
        const Token letter{Token::Kind::kName, word.text.substr(i, 1), word.offset + i};
        if (is_digit(word.text[i]) || word.text[i] == '_') {
          fail(letter.offset, fmt::format("in this notation a dim is one letter, not {}; "
                                          "O[m1] += A[m1][k] names dims as you like",
                                          quoted(letter.text)));
        }
        if (const std::optional<DimId> id = dim(letter, told, seen)) {
          result.ranks.push_back({{{*id, 1}}});
        }
      }
    }
    return result;
  }

  void operand(Tensor parsed) {
    parsed.role = workload_.tensors.empty() ? Role::kInput : Role::kWeight;
    if (workload_.tensors.size() + 1 == kMaxTensors) {
      fail(0, fmt::format("more than {} tensors", kMaxTensors));
    }
    workload_.tensors.push_back(std::move(parsed));
  }

  // tensor := NAME ('[' rank (',' rank)* ']')*: A[m][k] is also A[m, k]
  Tensor tensor() {
    const Token token = name("the name of a tensor");
    if (token.text == "partial" || !is_name(token.text)) {
      problem(token.offset, fmt::format("{} cannot name a tensor", quoted(token.text)));
    }
    if (std::find(names_.begin(), names_.end(), token.text) != names_.end()) {
      problem(token.offset, fmt::format("tensor {} stands twice in the equation; give the second "
                                        "one another name",
                                        quoted(token.text)));
    }
    names_.push_back(token.text);
    Tensor result;
    result.name = token.text;
    DimSet seen;
    while (accept("[")) {
      do {
        result.ranks.push_back(rank(result.name, seen));
      } while (accept(","));
      expect("]", "after an index");
    }
    return result;
  }

  // rank := term ('+' term)*
  Rank rank(const std::string& tensor_name, DimSet& seen) {
    Rank result;
    do {
      if (const std::optional<Term> parsed = term(tensor_name, seen)) {
        result.terms.push_back(*parsed);
      }
    } while (accept("+"));
    std::int64_t last = 0;  // coordinate
    for (const Term& parsed : result.terms) {
      const std::int64_t steps = dims_[index_of(parsed.dim)].bound - 1;
      if (steps > 0 && parsed.coefficient > (kMaxOperations - last) / steps) {
        problem(peek().offset, "this index goes beyond 2^53");
        break;
      }
      last += parsed.coefficient * steps;
    }
    check_sums(result);
    return result;
  }

  // The distinct values of a sum of three dims have no closed form: counting them takes the longest
  // dim once for each combination of the others.
  void check_sums(const Rank& rank) {
    std::int64_t longest = 1;
    std::int64_t combinations = 1;  // of the others
    int sliding = 0;
    for (const Term& term : rank.terms) {
      const std::int64_t bound = dims_[index_of(term.dim)].bound;
      const std::int64_t shorter = std::min(bound, longest);
      longest = std::max(bound, longest);
      combinations =
          shorter > kMaxCombinations / combinations ? kMaxCombinations + 1 : combinations * shorter;
      sliding += bound > 1 ? 1 : 0;
    }
    if (sliding > 2 && combinations > kMaxCombinations) {
      problem(peek().offset,
              fmt::format("this index is a sum of {} dims, of which all but the longest have more "
                          "than 2^16 combinations: too many to count its values",
                          sliding));
    }
  }

  // term := [NUMBER '*'] NAME
  std::optional<Term> term(const std::string& tensor_name, DimSet& seen) {
    std::int64_t factor = 1;
    if (peek().kind == Token::Kind::kNumber) {
      factor = coefficient();
    }
    const Token token = name("the name of a dim");
    if (peek().text == "*") {
      fail(peek().offset,
           fmt::format("a coefficient stands before its dim, like 2*{}", token.text));
    }
    const std::optional<DimId> id = dim(token, tensor_name, seen);
    return id ? std::optional{Term{*id, factor}} : std::nullopt;
  }

  // The dim that `token` names, which indexes a tensor for the first time.
  std::optional<DimId> dim(const Token& token, const std::string& tensor_name, DimSet& seen) {
    const auto found = std::find_if(dims_.begin(), dims_.end(),
                                    [&token](const Dim& dim) { return dim.name == token.text; });
    if (found == dims_.end()) {
      if (!unknown_.insert(token.text).second) {
        return std::nullopt;  // said at its first place
      }
      const std::string guess = suggestion(token.text, names_of(dims_));
      problem(token.offset, fmt::format("dim {} has no bound in 'dims'{}", quoted(token.text),
                                        guess.starts_with("; did") ? guess : ""));
      return std::nullopt;
    }
    const auto id = static_cast<DimId>(found - dims_.begin());
    if (seen.contains(id)) {
      problem(token.offset,
              fmt::format("dim {} indexes {} twice", quoted(token.text), tensor_name));
      return std::nullopt;
    }
    seen.insert(id);
    used_.insert(id);
    return id;
  }

  std::int64_t coefficient() {
    const Token token = tokens_[next_++];
    std::int64_t value = 0;
    const auto [stop, error] =
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
    if (error != std::errc{} || value > kMaxOperations) {
      fail(token.offset, fmt::format("coefficient {} is too large", quoted(token.text)));
    }
    if (token.text[0] == '0') {
      problem(token.offset, value == 0 ? "a coefficient is at least 1"
                                       : "a coefficient begins with a zero; write decimal numbers "
                                         "without");
    }
    expect("*", "after a coefficient");
    return value;
  }

  void take_dims() {
    std::int64_t operations = 1;
    const bool all_read = problems_.empty();
    for (const Dim& dim : dims_) {
      const auto id = static_cast<DimId>(workload_.dims.size());
      if (all_read && !used_.contains(id)) {
        problems_.push_back(
            {0, fmt::format("dim {} indexes no tensor", quoted(dim.name)), dim.name});
      }
      if (dim.bound > kMaxOperations / operations) {
        problem(0, "more than 2^53 multiply-accumulates");
        return;
      }
      operations *= dim.bound;
      workload_.dims.push_back(dim);
    }
  }

  std::vector<Token> tokens_;
  const std::vector<Dim>& dims_;
  bool is_subscripts_ = false;
  std::size_t next_ = 0;
  std::vector<std::string> names_;
  DimSet used_;
  std::set<std::string> unknown_;
  Workload workload_;
  std::vector<EquationProblem> problems_;
};

void check_dims(const std::vector<Dim>& dims) {
  if (dims.empty() || dims.size() > kMaxDims) {
    throw std::invalid_argument{fmt::format("an einsum has 1 to {} dims", kMaxDims)};
  }
  for (const Dim& dim : dims) {
    if (dim.bound < 1 || dim.bound > kMaxOperations) {
      throw std::invalid_argument{
          fmt::format("the bound of {} is not between 1 and 2^53", dim.name)};
    }
  }
}

}  // namespace

std::variant<Workload, std::vector<EquationProblem>> parse_equation(const std::string& equation,
                                                                    const std::vector<Dim>& dims) {
  check_dims(dims);
  return Parser{equation, dims}.parse();
}

Workload einsum(const std::string& name, const std::string& equation, const std::vector<Dim>& dims,
                const Precision& precision, const std::map<std::string, Role>& roles) {
  auto parsed = parse_equation(equation, dims);
  if (const auto* problems = std::get_if<std::vector<EquationProblem>>(&parsed)) {
    throw std::invalid_argument{problems->front().what};
  }
  Workload workload = std::get<Workload>(std::move(parsed));
  workload.name = name;
  for (Tensor& tensor : workload.tensors) {
    if (const auto role = roles.find(tensor.name); role != roles.end()) {
      tensor.role = role->second;
    }
  }
  apply_or_throw(precision, workload);
  return workload;
}

}  // namespace mapsim
