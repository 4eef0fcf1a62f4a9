// SPDX-License-Identifier: Apache-2.0

// A law with integral action behind a predecessor.

#include <gtest/gtest.h>

#include "bench.hpp"

namespace test {
namespace {

TEST(Chained, ARestartKeepsTheIntegral) {
  // A payload that is not in the model: without the integral's torque the arm would sag.
  Arm arm(puma());
  arm.plant = ga_dynamics::Plant(
      arm.chain.with_payload({.mass = 2, .com = {0, 0, 0}, .inertia = {}}), {.friction = false});
  const Motion at(arm.chain, 0.3);
  const Values rest(6, 0.0);
  arm.put(at.q);
  Bench bench(kLaw, puma());
  ASSERT_TRUE(bench.configure());
  ASSERT_TRUE(bench.activate(arm, true));
  bench.refer({at.q, rest, rest});
  bench.cycles(arm, 4000);
  ASSERT_LT(arm.distance(at.q), 1e-4);
  for (const bool chained : {false, true, false, true}) {
    ASSERT_TRUE(bench.restart(arm, chained));
    if (chained) bench.refer({at.q, rest, rest});
    for (int k = 0; k < 300; ++k) {
      ASSERT_LT(bench.cycle(arm), 0.001);
      ASSERT_LT(arm.distance(at.q), 2e-4);
    }
  }
}

}  // namespace
}  // namespace test
