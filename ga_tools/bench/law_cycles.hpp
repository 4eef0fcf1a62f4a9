// SPDX-License-Identifier: Apache-2.0
#ifndef LAW_CYCLES_HPP_
#define LAW_CYCLES_HPP_

// Cycles of the control law for the benchmark. A simulated arm with encoders runs under the law once; the
// law then computes the same cycles again, from the recorded measurements, as often as they are to be
// timed.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/chain.hpp"
#include "ga_motion/trajectory.hpp"

namespace bench {

/// What a variant of the law computes in every cycle.
struct LawVariant {
  const char* name;
  bool keep_limits = false, keep_path = false;
  double duration = 1.5;         ///< s, of the quintic
  double effort = 1;             ///< part of the effort limits that the law may use
  bool changes_payload = false;  ///< a payload of 2.5 kg is set at the start of the motion
  bool adapts = false;           ///< to 2.5 kg that the law does not know
};

/// Plain, with the reference governor, with time scaling that does not bind and that stretches, with a
/// change of the payload, and with adaptation.
std::vector<LawVariant> law_variants();

class LawCycles {
 public:
  /// Records the motion. Throws std::runtime_error if a variant does not do what its name says: time is
  /// stretched though it need not be, or not though it has to be, or the payload is not blended or not found.
  LawCycles(const ga_dynamics::Chain& chain, const LawVariant& variant);

  const std::string& name() const { return name_; }
  std::size_t count() const { return cycles_.size(); }
  /// A new law, as before the first cycle. Allocates.
  void restart();
  /// update() of the law in this cycle.
  void run(std::size_t cycle);

  /// Processor time of single cycles, ns: for each of them the fastest of `times` runs, which interrupts
  /// and other processes hardly affect; sorted.
  std::vector<double> single_cycles(int times);

 private:
  void start(std::span<const double> q);
  struct Cycle {
    std::vector<double> q, qd, q_ref, qd_ref, qdd_ref;
  };

  ga_dynamics::Chain chain_;
  std::string name_;
  bool changes_payload_, adapts_;
  ga_controllers::LawParameters parameters_;
  std::vector<double> held_, tau_;  ///< N m
  std::vector<Cycle> cycles_;
  std::optional<ga_controllers::ControlLaw> law_;
};

}  // namespace bench

#endif  // LAW_CYCLES_HPP_
