// SPDX-License-Identifier: Apache-2.0
#ifndef GA_HARDWARE__PARAMETER_TEXT_HPP_
#define GA_HARDWARE__PARAMETER_TEXT_HPP_

// Reads <param> tags of a hardware component or of its joints, or the same names from a settings
// file. Error messages name the parameter, its value and the remedy. Allocates and throws
// std::runtime_error.

#include <array>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ga_dynamics/chain.hpp"

namespace ga_hardware {

class ParameterText {
 public:
  /// `where` is the prefix of every message, e.g. "hardware 'puma560'".
  ParameterText(std::string where, std::unordered_map<std::string, std::string> texts);

  // Each returns `otherwise` if the parameter is not given.

  std::string text(const std::string& name, const std::string& otherwise = "");
  /// A finite number in [least, most].
  double number(const std::string& name, double otherwise, double least = -kNoBound,
                double most = kNoBound);
  /// A finite number in (least, most].
  double number_above(const std::string& name, double otherwise, double least, double most);
  /// Decimal or 0x….
  int whole(const std::string& name, int otherwise, int least = -kNoWholeBound,
            int most = kNoWholeBound);
  /// 1 or -1
  int sign(const std::string& name, int otherwise);
  /// true or false; also yes, no, on, off, 1, 0, in any case
  bool flag(const std::string& name, bool otherwise);
  /// "x,y,z" or "x y z", as many numbers as `otherwise` has
  std::vector<double> list(const std::string& name, const std::vector<double>& otherwise);
  /// The same with integers, decimal or 0x…, that fit into a Whole.
  template <typename Whole, std::size_t N>
  std::array<Whole, N> wholes(const std::string& name, const std::array<Whole, N>& otherwise) {
    using Limits = std::numeric_limits<Whole>;
    const std::vector<double> found =
        values(name, {otherwise.begin(), otherwise.end()}, Limits::lowest(), Limits::max(), true);
    std::array<Whole, N> read;
    for (std::size_t i = 0; i < N; ++i) read[i] = static_cast<Whole>(found[i]);
    return read;
  }
  /// One of several words, mapped to its value.
  template <typename Meaning>
  Meaning choice(const std::string& name, Meaning otherwise,
                 std::initializer_list<std::pair<const char*, Meaning>> choices) {
    const std::string* const found = find(name);
    if (found == nullptr) return otherwise;
    std::string words;
    for (const auto& [word, meaning] : choices) {
      if (text(name) == word) return meaning;
      words += (words.empty() ? "" : ", ") + std::string(word);
    }
    refuse(name, "give one of " + words);
  }
  /// "joint1:0.5,joint2:-1"
  std::map<std::string, double> by_joint(const std::string& name);

  /// Throws if the parameter is missing.
  void require(const std::string& name) const;
  /// Accepts a parameter that another reader uses.
  void allow(const std::string& name) { known_.insert(name); }
  /// Throws if there is a parameter that none of the calls above has read, naming the nearest ones.
  void refuse_others() const;

 private:
  static constexpr double kNoBound = std::numeric_limits<double>::max();
  static constexpr int kNoWholeBound = std::numeric_limits<int>::max();

  [[noreturn]] void refuse(const std::string& name, const std::string& remedy) const;
  const std::string* find(const std::string& name);
  std::vector<double> values(const std::string& name, const std::vector<double>& otherwise,
                             double least, double most, bool whole);

  std::string where_;
  std::unordered_map<std::string, std::string> texts_;
  std::set<std::string> known_;
};

/// Reads a finite number with optional blanks around it; false for anything else.
bool read_number(const std::string& text, double& value);

/// Three numbers.
ga_dynamics::Vector3 vector_of(const std::vector<double>& numbers);

/// The chain of the robot description that a hardware component drives, by the rules of
/// ga_dynamics/chain.hpp. Throws ga_dynamics::DescriptionError as well. Parameters:
///   base, tip          links of the chain: the root and the end of the longest actuated chain,
///                      before its gripper
///   freeze             joints in between that do not move, JOINT:POSITION,…
///   freeze_off_chain   true: joints off the chain rest at zero. false: they are an error, unless
///                      they belong to a gripper or the base carries them
///   gravity            x,y,z [m/s²] in the root link's frame (0,0,-9.81)
ga_dynamics::Chain chain_of(const std::string& urdf_text, ParameterText& parameters);

}  // namespace ga_hardware

#endif  // GA_HARDWARE__PARAMETER_TEXT_HPP_
