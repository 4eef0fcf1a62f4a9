// SPDX-License-Identifier: Apache-2.0

// Sizes, indices and names that do not fit are errors of the program, reported in every build:
// nothing is read or written out of bounds.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ga_dynamics/dynamics.hpp"
#include "refusal.hpp"

namespace ga_dynamics {
namespace {

using test::expect_sizes;
using test::refusal;
using Values = std::vector<double>;

Chain puma() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }

TEST(BadSize, IsRefusedByEveryFunctionOfDynamics) {
  const Chain chain = puma();
  for (const Method method :
       {Method::kTensor, Method::kVector, Method::kDalembert, Method::kMinimal}) {
    Dynamics d(chain, {.method = method, .drives = Drives::kAll});
    expect_sizes("Dynamics::inverse_dynamics", {"q", "qd", "qdd", "tau"}, {6, 6, 6, 6},
                 [&](auto& a) { d.inverse_dynamics(a[0], a[1], a[2], a[3]); });
    expect_sizes("Dynamics::forward_dynamics", {"q", "qd", "tau", "qdd"}, {6, 6, 6, 6},
                 [&](auto& a) { d.forward_dynamics(a[0], a[1], a[2], a[3]); });
    expect_sizes("Dynamics::inertia_matrix", {"q", "inertia"}, {6, 36},
                 [&](auto& a) { d.inertia_matrix(a[0], a[1]); });
    expect_sizes("Dynamics::bias", {"q", "qd", "h"}, {6, 6, 6},
                 [&](auto& a) { d.bias(a[0], a[1], a[2]); });
    expect_sizes("Dynamics::gravity", {"q", "g"}, {6, 6}, [&](auto& a) { d.gravity(a[0], a[1]); });
    expect_sizes("Dynamics::jacobian", {"q", "jacobian"}, {6, 36},
                 [&](auto& a) { d.jacobian(a[0], chain.tip_index(), a[1]); });
    expect_sizes("Dynamics::energy", {"q", "qd"}, {6, 6}, [&](auto& a) { d.energy(a[0], a[1]); });
    expect_sizes("Dynamics::gibbs_function", {"q", "qd", "qdd"}, {6, 6, 6},
                 [&](auto& a) { d.gibbs_function(a[0], a[1], a[2]); });
    std::vector<Pose> poses(chain.links().size());
    expect_sizes("Dynamics::link_poses", {"q"}, {6}, [&](auto& a) { d.link_poses(a[0], poses); });
    poses.pop_back();
    EXPECT_EQ(refusal([&] { d.link_poses(Values(6), poses); }),
              "Dynamics::link_poses: poses has " + std::to_string(poses.size()) +
                  " values; give at least " + std::to_string(poses.size() + 1));
  }
}

TEST(BadSize, LongerSpansAreAccepted) {
  Dynamics d(puma());
  const Values q(9, 0.1);
  Values tau(9, -5), expected(6);
  d.inverse_dynamics(Values(6, 0.1), Values(6, 0.1), Values(6, 0.1), expected);
  d.inverse_dynamics(q, q, q, tau);
  EXPECT_EQ(Values(tau.begin(), tau.begin() + 6), expected);
  EXPECT_EQ(Values(tau.begin() + 6, tau.end()), Values(3, -5));
}

TEST(BadIndex, OfALinkIsRefused) {
  const Chain chain = puma();
  Dynamics d(chain);
  Values q(6), jacobian(36), before(6), after(6);
  d.inverse_dynamics(q, q, q, before);
  const auto size = static_cast<int>(chain.links().size());
  for (const int link : {-1, -1000000, size, size + 1, 1 << 30}) {
    const std::string rest = ": link index " + std::to_string(link) + " is not in 0 to " +
                             std::to_string(size - 1) + "; take it from Chain::link_index()";
    EXPECT_EQ(refusal([&] {
                d.set_external_wrench(link, {1, 2, 3}, {4, 5, 6});
              }),
              "Dynamics::set_external_wrench" + rest);
    EXPECT_EQ(refusal([&] { d.jacobian(q, link, jacobian); }), "Dynamics::jacobian" + rest);
  }
  d.inverse_dynamics(q, q, q, after);
  EXPECT_EQ(after, before) << "what is refused changes nothing";
}

TEST(LinkIndex, IsThatOfLinksOrAnErrorWithTheKnownNames) {
  const Chain chain = puma();
  for (std::size_t i = 0; i < chain.links().size(); ++i) {
    EXPECT_EQ(chain.link_index(chain.links()[i].name), static_cast<int>(i));
  }
  EXPECT_EQ(chain.link_index(chain.tip().name), chain.tip_index());
  std::string known;
  for (const ChainLink& link : chain.links()) known += (known.empty() ? "" : ", ") + link.name;
  for (const std::string name : {"lnik3", "", "link"}) {
    EXPECT_EQ(refusal<DescriptionError>([&] { chain.link_index(name); }),
              "link '" + name + "': not in the chain; its links are " + known);
  }
}

}  // namespace
}  // namespace ga_dynamics
