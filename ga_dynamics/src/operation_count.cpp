// SPDX-License-Identifier: Apache-2.0
// Every operation of the counting scalar is a call: inlining the algorithms would only cost build
// time. The name keeps these instances apart from those with inlining.
#define GA_DYNAMICS_ISA counted
#define GA_DYNAMICS_INLINE inline

#include "ga_dynamics/algorithm/operation_count.hpp"

#include <cmath>

#include "ga_dynamics/algorithm/forward_dynamics.hpp"
#include "ga_dynamics/algorithm/gravity.hpp"
#include "ga_dynamics/algorithm/inverse_dynamics_mlc.hpp"
#include "ga_dynamics/algorithm/inverse_dynamics_vector.hpp"

namespace ga_dynamics {

std::vector<Counted::Node>& Counted::tape() {
  thread_local std::vector<Node> nodes;
  return nodes;
}

Counted Counted::record(Kind kind, const Counted& a, const Counted& b) {
  tape().push_back({kind, a.node_, b.node_});
  Counted result;
  result.node_ = static_cast<int>(tape().size()) - 1;
  return result;
}

Counted Counted::variable() { return record(Kind::kFree, Counted(), Counted()); }

void Counted::clear_tape() { tape().clear(); }

OperationCount Counted::reaching(const Counted* outputs, std::size_t size) {
  std::vector<bool> live(tape().size(), false);
  for (std::size_t i = 0; i < size; ++i) {
    if (outputs[i].node_ >= 0) live[static_cast<std::size_t>(outputs[i].node_)] = true;
  }
  OperationCount count;
  for (std::size_t i = tape().size(); i-- > 0;) {
    if (!live[i]) continue;
    const Node& node = tape()[i];
    if (node.kind == Kind::kProduct) ++count.products;
    if (node.kind == Kind::kSum) ++count.sums;
    if (node.a >= 0) live[static_cast<std::size_t>(node.a)] = true;
    if (node.b >= 0) live[static_cast<std::size_t>(node.b)] = true;
  }
  return count;
}

Counted operator-(const Counted& a) {
  if (a.is_constant()) return -a.constant_;
  return Counted::record(Counted::Kind::kFree, a, Counted());
}

Counted operator+(const Counted& a, const Counted& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_ + b.constant_;
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  return Counted::record(Counted::Kind::kSum, a, b);
}

Counted operator-(const Counted& a, const Counted& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_ - b.constant_;
  if (a.is(0)) return -b;
  if (b.is(0)) return a;
  return Counted::record(Counted::Kind::kSum, a, b);
}

Counted operator*(const Counted& a, const Counted& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_ * b.constant_;
  if (a.is(0) || b.is(0)) return 0.0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (a.is(-1)) return -b;
  if (b.is(-1)) return -a;
  return Counted::record(Counted::Kind::kProduct, a, b);
}

Counted operator/(const Counted& a, const Counted& b) {
  if (a.is_constant() && b.is_constant()) return a.constant_ / b.constant_;
  if (a.is(0)) return 0.0;
  if (b.is(1)) return a;
  return Counted::record(Counted::Kind::kProduct, a, b);
}

Counted sin(const Counted& a) {
  if (a.is_constant()) return std::sin(a.constant_);
  return Counted::record(Counted::Kind::kFree, a, Counted());
}

Counted cos(const Counted& a) {
  if (a.is_constant()) return std::cos(a.constant_);
  return Counted::record(Counted::Kind::kFree, a, Counted());
}

OperationCount count_operations(const Chain& chain, CountedAlgorithm algorithm) {
  Counted::clear_tape();
  const auto n = static_cast<std::size_t>(chain.size());
  const Model<Counted> model = make_model<Counted>(chain);
  Workspace<Counted> work(model);
  std::vector<Counted> q(n), qd(n), third(n), out(n);
  for (std::size_t i = 0; i < n; ++i) {
    q[i] = Counted::variable(), qd[i] = Counted::variable(), third[i] = Counted::variable();
  }
  switch (algorithm) {
    case CountedAlgorithm::kTensor:
      inverse_dynamics(model, work, q.data(), qd.data(), third.data(), out.data());
      break;
    case CountedAlgorithm::kVector:
      inverse_dynamics_vector(model, work, q.data(), qd.data(), third.data(), out.data());
      break;
    case CountedAlgorithm::kMinimal: {
      const MinimalModel<Counted> minimal = make_minimal_model<Counted>(MinimalParameters(chain));
      MinimalWorkspace<Counted> minimal_work(model);
      inverse_dynamics_mlc(model, minimal, minimal_work, q.data(), qd.data(), third.data(),
                           out.data());
      break;
    }
    case CountedAlgorithm::kBias:
      bias(model, work, q.data(), qd.data(), out.data());
      break;
    case CountedAlgorithm::kGravity:
      gravity(model, work, q.data(), out.data());
      break;
    case CountedAlgorithm::kInertia:
      out.resize(n * n);
      inertia_matrix(model, work, q.data(), out.data());
      break;
    case CountedAlgorithm::kForward:
      forward_dynamics(model, work, q.data(), qd.data(), third.data(), out.data());
      break;
  }
  return Counted::reaching(out.data(), out.size());
}

}  // namespace ga_dynamics
