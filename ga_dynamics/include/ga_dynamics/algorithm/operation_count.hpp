// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__OPERATION_COUNT_HPP_
#define GA_DYNAMICS__ALGORITHM__OPERATION_COUNT_HPP_

// A scalar that counts. Running an algorithm on it records every operation on a tape; the count is
// then taken of the operations that an output depends on. The rules are those of the papers' tables
// (Mata et al. 2002 Tables 1–3; Lin 1995 Table II): products by 0 and ±1 and sums with 0 are free,
// negation is free, what depends on the robot's constants alone is done off-line, sine and cosine
// are not counted, a division counts as a product.

#include <cstddef>
#include <vector>

namespace ga_dynamics {

struct OperationCount {
  long products = 0;
  long sums = 0;
  bool operator==(const OperationCount&) const = default;
};

/// A recorded scalar. The tape belongs to the thread; clear it between algorithms. Not for the
/// control path.
class Counted {
 public:
  Counted() = default;
  Counted(double constant)
      : constant_(constant) {}  // NOLINT(google-explicit-constructor): literals in the templates
  Counted(int constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor)

  static Counted variable();
  static void clear_tape();
  /// Operations that reach one of the `size` outputs.
  static OperationCount reaching(const Counted* outputs, std::size_t size);

  friend Counted operator-(const Counted& a);
  friend Counted operator+(const Counted& a, const Counted& b);
  friend Counted operator-(const Counted& a, const Counted& b);
  friend Counted operator*(const Counted& a, const Counted& b);
  friend Counted operator/(const Counted& a, const Counted& b);
  friend Counted sin(const Counted& a);
  friend Counted cos(const Counted& a);

 private:
  enum class Kind : unsigned char { kFree, kProduct, kSum };
  struct Node {
    Kind kind;
    int a, b;
  };
  static std::vector<Node>& tape();
  static Counted record(Kind kind, const Counted& a, const Counted& b);
  bool is_constant() const { return node_ < 0; }
  bool is(double value) const { return node_ < 0 && constant_ == value; }

  int node_ = -1;
  double constant_ = 0;
};

Counted operator-(const Counted& a);
Counted operator+(const Counted& a, const Counted& b);
Counted operator-(const Counted& a, const Counted& b);
Counted operator*(const Counted& a, const Counted& b);
Counted operator/(const Counted& a, const Counted& b);
Counted sin(const Counted& a);
Counted cos(const Counted& a);

/// The algorithms whose operations can be counted.
enum class CountedAlgorithm { kTensor, kVector, kMinimal, kBias, kGravity, kInertia, kForward };

class Chain;
/// Operations of one call for this chain: its zeros, right angles and parallel axes are all known.
/// Allocates.
OperationCount count_operations(const Chain& chain, CountedAlgorithm algorithm);

}  // namespace ga_dynamics

#endif  // GA_DYNAMICS__ALGORITHM__OPERATION_COUNT_HPP_
