// SPDX-License-Identifier: Apache-2.0

// Whatever a law is given as its reference (noise, steps, held samples, positions alone, velocities
// without accelerations, gaps, nonsense, and all of them in turn), what it follows stays near it,
// and arrives when it rests.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <random>

#include "ga_controllers/control_law.hpp"
#include "ga_dynamics/dynamics.hpp"
#include "ga_dynamics/plant.hpp"
#include "wave.hpp"

namespace ga_controllers {
namespace {

using ga_dynamics::Chain;
using ga_dynamics::Plant;
using Random = std::mt19937;

constexpr LawKind kWithReference[] = {LawKind::kPointToPoint, LawKind::kTracking,
                                      LawKind::kTrackingIntegral};

// ---- The PUMA in closed loop, along references as they come from real senders.

/// One cycle's reference; what is empty is not given.
struct Sample {
  Values q, qd, qdd;
  Reference reference() const { return {q, qd, qdd}; }
};

struct Stray {
  double joint = 0;  ///< rad, largest distance of a joint to the motion that was meant
  double late = 0;   ///< rad, the same after the first two seconds
  double tool = 0;   ///< m, of the tool
  double speed = 0;  ///< largest velocity over its limit
};

/// Drives the PUMA at 40 rad/s for 6 s. `meant`: the motion; `given`: what of it the law is told.
Stray drive(LawKind kind, bool keep_limits, const std::function<Wave(double)>& meant,
            const std::function<Sample(int)>& given) {
  const Chain chain = puma();
  Plant plant(chain, {.friction = false, .stops = false});
  LawParameters p = parameters(kind, 40);
  p.keep_limits = keep_limits;
  ControlLaw law(chain, p);
  ga_dynamics::Dynamics dynamics(chain);
  std::vector<ga_dynamics::Pose> is(chain.links().size()), should(chain.links().size());
  plant.reset(meant(0).q, meant(0).qd);
  law.start(plant.q(), plant.qd(), Values(6, NAN));
  Values tau(6);
  Stray stray;
  for (int k = 0; k < 6000; ++k) {
    const Wave now = meant(k * kDt);
    for (std::size_t i = 0; i < 6; ++i) {
      stray.joint = std::max(stray.joint, std::abs(plant.q()[i] - now.q[i]));
      if (k > 2000) stray.late = std::max(stray.late, std::abs(plant.q()[i] - now.q[i]));
      stray.speed =
          std::max(stray.speed, std::abs(plant.qd()[i]) / chain.joints()[i].limits.velocity);
    }
    dynamics.link_poses(plant.q(), is);
    dynamics.link_poses(now.q, should);
    const auto &a = is.back().translation, &b = should.back().translation;
    stray.tool = std::max(stray.tool, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
    const Sample sample = given(k);
    law.update(plant.q(), plant.qd(), sample.reference(), kDt, tau);
    plant.step(tau, kDt);
  }
  return stray;
}

Wave at_rest(double) {
  Wave wave(0);
  wave.qd.assign(6, 0.0);
  wave.qdd.assign(6, 0.0);
  return wave;
}

Wave moving(double t) { return Wave(t); }

void record(const char* name, LawKind kind, bool keep_limits, const Stray& stray) {
  const std::string key = std::string(name) + "_law" + std::to_string(static_cast<int>(kind)) +
                          (keep_limits ? "_kept" : "");
  ::testing::Test::RecordProperty(key, std::to_string(stray.joint) + " rad, later " +
                                           std::to_string(stray.late) + " rad, " +
                                           std::to_string(stray.tool * 1000) + " mm, " +
                                           std::to_string(stray.speed) + " of the velocity limit");
}

TEST(AnyReference, NoiseOfARestingReferenceDoesNotMoveTheArm) {
  for (const LawKind kind : kWithReference) {
    for (const bool keep_limits : {false, true}) {
      for (const bool of_velocity : {false, true}) {
        Random random(1);
        std::normal_distribution<double> noise(0, of_velocity ? 5e-3 : 3e-4);
        const Stray stray = drive(kind, keep_limits, at_rest, [&](int) {
          Sample sample{at_rest(0).q, Values(6, 0.0), Values(6, 0.0)};
          for (double& value : of_velocity ? sample.qd : sample.q) value += noise(random);
          return sample;
        });
        record(of_velocity ? "velocity_noise" : "position_noise", kind, keep_limits, stray);
        EXPECT_LT(stray.joint, 1e-3) << "law " << static_cast<int>(kind);
        EXPECT_LT(stray.tool, 1e-3);
        EXPECT_LT(stray.speed, 0.02);
      }
    }
  }
}

TEST(AnyReference, PositionsAloneAreFollowedWithALag) {
  for (const LawKind kind : kWithReference) {
    for (const bool keep_limits : {false, true}) {
      const Stray stray = drive(kind, keep_limits, moving,
                                [](int k) { return Sample{Wave(k * kDt).q, {}, {}}; });
      record("positions_alone", kind, keep_limits, stray);
      EXPECT_LT(stray.joint, 0.1) << "law " << static_cast<int>(kind);
      EXPECT_LT(stray.tool, 0.08);
    }
  }
}

TEST(AnyReference, VelocitiesWithoutAccelerationsAreFollowed) {
  for (const LawKind kind : {LawKind::kTracking, LawKind::kTrackingIntegral}) {
    for (const bool keep_limits : {false, true}) {
      const Stray stray = drive(kind, keep_limits, moving, [](int k) {
        return Sample{Wave(k * kDt).q, Wave(k * kDt).qd, {}};
      });
      record("no_accelerations", kind, keep_limits, stray);
      EXPECT_LT(stray.joint, 5e-3) << "law " << static_cast<int>(kind);
      EXPECT_LT(stray.tool, 5e-3);
    }
  }
}

TEST(AnyReference, HeldSamplesAreFollowed) {
  for (const LawKind kind : kWithReference) {
    for (const bool keep_limits : {false, true}) {
      for (const bool rates : {false, true}) {
        const Stray stray = drive(kind, keep_limits, moving, [&](int k) {
          const Wave held(k / 10 * 10 * kDt);
          return rates ? Sample{held.q, held.qd, held.qdd} : Sample{held.q, {}, {}};
        });
        record(rates ? "held_at_100_hz" : "held_positions", kind, keep_limits, stray);
        const bool lags = !rates || kind == LawKind::kPointToPoint;
        EXPECT_LT(stray.joint, lags ? 0.1 : 0.02) << "law " << static_cast<int>(kind);
        EXPECT_LT(stray.tool, lags ? 0.08 : 0.015);
      }
    }
  }
}

}  // namespace
}  // namespace ga_controllers
