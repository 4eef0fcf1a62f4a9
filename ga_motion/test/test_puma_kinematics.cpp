// SPDX-License-Identifier: Apache-2.0

// The closed-form inverse kinematics against Orocos KDL's forward kinematics, which is built here
// from the published numbers without our code.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <numbers>
#include <random>

#include "ga_motion/cartesian_line.hpp"
#include "ga_motion/kinematics.hpp"
#include "worse.hpp"

namespace ga_motion {

using namespace ga_dynamics;
namespace {

constexpr double kPi = std::numbers::pi;
constexpr int kPoses = 100000;
using Joints = std::array<double, 6>;
using Table = std::array<DhParameters, 6>;  // alpha, a, d, theta

Table puma_table(double d2, double a3, double d3, double a4, double d4) {
  const double right = kPi / 2;
  return {{{}, {-right, 0, d2}, {0, a3, d3}, {right, a4, d4}, {-right}, {right}}};
}
// Armstrong, Khatib and Burdick 1986, as in robots/puma560_akb.urdf
const Table kAkb = puma_table(0.2435, 0.4318, -0.0934, -0.0203, 0.4331);
/// Mata, Valera et al., Table 5; it prints d4 = -0.433.
Table puma600(double d4) { return puma_table(0, 0.432, -0.15, -0.02, d4); }

Chain chain_of(const Table& table) {
  std::vector<DhJoint> rows(6);
  for (std::size_t i = 0; i < 6; ++i) rows[i].dh = table[i];
  return Chain::from_dh(rows);
}

Chain akb() { return Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"); }

Pose to_pose(const KDL::Frame& frame) {
  Pose pose;
  for (std::size_t i = 0; i < 3; ++i) {
    pose.translation[i] = frame.p(static_cast<int>(i));
    for (std::size_t k = 0; k < 3; ++k)
      pose.rotation[3 * i + k] = frame.M(static_cast<int>(i), static_cast<int>(k));
  }
  return pose;
}

/// KDL's forward kinematics of a modified-DH table.
class Reference {
 public:
  explicit Reference(const Table& table) {
    for (const DhParameters& row : table) {
      chain_.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::None),
                                     KDL::Frame::DH_Craig1989(row.a, row.alpha, 0, 0)));
      chain_.addSegment(
          KDL::Segment(KDL::Joint(KDL::Joint::RotZ),
                       KDL::Frame(KDL::Rotation::RotZ(row.theta), KDL::Vector(0, 0, row.d))));
    }
  }
  /// Frame i, 1 to 6, in frame 0.
  KDL::Frame frame(const Joints& q, int i = 6) const {
    KDL::JntArray kq(6);
    for (unsigned k = 0; k < 6; ++k) kq(k) = q[k];
    KDL::Frame frame;
    KDL::ChainFkSolverPos_recursive(chain_).JntToCart(kq, frame, 2 * i);
    return frame;
  }
  Pose pose(const Joints& q) const { return to_pose(frame(q)); }

 private:
  KDL::Chain chain_;
};

double difference(const Pose& a, const Pose& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 9; ++i) sum += std::pow(a.rotation[i] - b.rotation[i], 2);
  for (std::size_t i = 0; i < 3; ++i) sum += std::pow(a.translation[i] - b.translation[i], 2);
  return std::isnan(sum) ? INFINITY : std::sqrt(sum);
}

/// Largest difference of angles, whole turns apart or not.
double turned_difference(const Joints& a, const Joints& b) {
  double worst = 0;
  for (std::size_t i = 0; i < 6; ++i)
    worst = ga_dynamics::test::worse(worst, std::abs(std::remainder(a[i] - b[i], 2 * kPi)));
  return worst;
}

/// The signs as PumaBranch defines them, from KDL's frames.
PumaBranch branch_by_axes(const Reference& reference, const Joints& q) {
  std::array<KDL::Vector, 7> z, o;
  for (std::size_t i = 1; i <= 6; ++i) {
    const KDL::Frame frame = reference.frame(q, static_cast<int>(i));
    z[i] = frame.M.UnitZ(), o[i] = frame.p;
  }
  const KDL::Vector& wrist = o[5];  // where axes 4, 5 and 6 meet
  const auto sign = [](double value) { return value < 0 ? -1 : 1; };
  return {sign(KDL::dot(z[2] * z[1], wrist - o[1])),
          sign(KDL::dot(z[3], (o[3] - o[2]) * (wrist - o[3]))), sign(KDL::dot(z[5], z[4] * z[6]))};
}

struct Random {
  std::mt19937 engine;

  double operator()(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  }
  int sign() { return (*this)(-1, 1) < 0 ? -1 : 1; }
  Joints joints() {
    Joints q;
    for (double& angle : q) angle = (*this)(-kPi, kPi);
    return q;
  }
};

using Solutions = std::array<PumaSolution, 8>;
Solutions solve(const PumaKinematics& puma, const Pose& pose, const Joints& seed) {
  Solutions solutions;
  puma.solve(pose, seed, solutions);
  return solutions;
}

/// Every branch of random poses gives the pose back, and one of them the joints it came from.
void expect_all_branches(const Chain& chain, const Table& table, unsigned seed) {
  const PumaKinematics puma(chain);
  const Reference reference(table);
  Random random{std::mt19937(seed)};
  double worst = 0, worst_joint = 0;
  int singular = 0;
  for (int k = 0; k < kPoses; ++k) {
    const Joints q = random.joints();
    const Pose pose = reference.pose(q);
    const Solutions solutions = solve(puma, pose, random.joints());
    double nearest = INFINITY;
    for (const PumaSolution& s : solutions) {
      const bool outside = s.result.status == IkStatus::kOutsideLimits;
      ASSERT_TRUE(s.result.usable() || outside) << "pose " << k << describe(s.result, chain);
      if (s.result.status != IkStatus::kOk && !outside) ++singular;
      worst = ga_dynamics::test::worse(worst, difference(reference.pose(s.q), pose));
      nearest = std::min(nearest, turned_difference(s.q, q));
      if (k < 1000 && puma.singularity(q).measure > 1e-3) {
        EXPECT_EQ(s.branch, branch_by_axes(reference, s.q));
        EXPECT_EQ(s.branch.wrist, std::sin(s.q[4]) < 0 ? -1 : 1);
      }
    }
    if (puma.singularity(q).measure > 1e-2)
      worst_joint = ga_dynamics::test::worse(worst_joint, nearest);
    for (std::size_t i = 0; i < 8 && puma.singularity(q).measure > 1e-3; ++i) {
      ASSERT_EQ(puma.branch_of(solutions[i].q), solutions[i].branch) << "pose " << k;
      for (std::size_t j = 0; j < i; ++j)
        ASSERT_GT(turned_difference(solutions[i].q, solutions[j].q), 1e-3) << "pose " << k;
    }
  }
  EXPECT_LT(worst, 1e-10);
  EXPECT_LT(worst_joint, 1e-10);
  EXPECT_LT(singular, kPoses / 1000);
  std::cout << "[          ] pose error " << worst << ", joint error " << worst_joint << "\n";
}

TEST(PumaKinematics, EightBranchesOfTheAkb560AndThe600GiveThePoseBack) {
  expect_all_branches(akb(), kAkb, 1);
  expect_all_branches(chain_of(puma600(0.433)), puma600(0.433), 2);
  expect_all_branches(chain_of(puma600(-0.433)), puma600(-0.433), 3);
}

TEST(PumaKinematics, AnySignsOfTwistsLengthsAndOffsetsOfTheSameStructure) {
  Random random{std::mt19937(4)};
  for (int robot = 0; robot < 200; ++robot) {
    Table table;
    for (DhParameters& row : table) row.theta = random(-3, 3);
    table[0].alpha = random(-3, 3), table[0].a = random(-1, 1), table[0].d = random(-1, 1);
    for (const std::size_t i : {1u, 3u, 4u, 5u}) table[i].alpha = random.sign() * kPi / 2;
    table[2].alpha = random.sign() > 0 ? 0 : kPi;
    table[1].d = random(-0.3, 0.3), table[2].d = random(-0.3, 0.3);
    table[2].a = random.sign() * random(0.1, 0.6), table[3].a = random(-0.2, 0.2);
    table[3].d = random.sign() * random(0.1, 0.6), table[5].d = random(-0.2, 0.2);
    if (random.sign() > 0) table[1].a = random(-0.2, 0.2);  // not the PUMA's, but as easy
    const PumaKinematics puma(chain_of(table));
    const Reference reference(table);
    for (int k = 0; k < 50; ++k) {
      const Joints q = random.joints();
      if (puma.singularity(q).measure < 1e-3) continue;
      const Pose pose = reference.pose(q);
      int same = 0;
      for (const PumaSolution& s : solve(puma, pose, random.joints())) {
        if (!s.result.usable()) continue;  // with a2 the two arm branches differ in reach
        EXPECT_LT(difference(reference.pose(s.q), pose), 1e-10) << robot;
        EXPECT_EQ(s.branch, branch_by_axes(reference, s.q)) << robot;
        if (turned_difference(s.q, q) < 1e-8) ++same;
      }
      EXPECT_EQ(same, 1) << robot;
    }
  }
}

TEST(PumaKinematics, BaseAndToolFramesOfTheDescriptionCount) {
  std::ifstream file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.insert(text.find("<link name=\"base_link\"/>"), R"(<link name="floor"/>
      <joint name="stand" type="fixed"><origin xyz="1 2 0.66" rpy="0.1 0.2 0.3"/>
      <parent link="floor"/><child link="base_link"/></joint>)");
  text.insert(text.find("</robot>"), R"(<link name="tool"/>
      <joint name="mount" type="fixed"><origin xyz="0.05 0.01 0.15" rpy="0.4 0.5 0.6"/>
      <parent link="link6"/><child link="tool"/></joint>)");
  const PumaKinematics puma(Chain::from_urdf_text(text, {.tip = "tool"}));
  const KDL::Frame stand(KDL::Rotation::RPY(0.1, 0.2, 0.3), KDL::Vector(1, 2, 0.66));
  const KDL::Frame mount(KDL::Rotation::RPY(0.4, 0.5, 0.6), KDL::Vector(0.05, 0.01, 0.15));
  const Reference reference(kAkb);
  Random random{std::mt19937(7)};
  for (int k = 0; k < 1000; ++k) {
    const Pose pose = to_pose(stand * reference.frame(random.joints()) * mount);
    for (const PumaSolution& s : solve(puma, pose, Joints{}))
      EXPECT_LT(difference(to_pose(stand * reference.frame(s.q) * mount), pose), 1e-10);
  }
}

double squared_distance(const Joints& a, const Joints& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

TEST(PumaKinematics, NearestSolutionWithinTheLimitsWholeTurnsConsidered) {
  const PumaKinematics puma(akb());  // joint 6 turns ±266°
  const Reference reference(kAkb);
  Random random{std::mt19937(8)};
  int outside = 0, turned = 0, none = 0;
  for (int k = 0; k < 20000; ++k) {
    const Pose pose = reference.pose(random.joints());
    const Joints seed = random.joints();
    double least = INFINITY;
    for (const PumaSolution& s : solve(puma, pose, seed)) {
      Joints best;  // the nearest equivalent within the limits, by trial
      best.fill(INFINITY);
      for (std::size_t i = 0; i < 6; ++i) {
        const JointLimits& limits = puma.chain().joints()[i].limits;
        for (double angle = s.q[i] - 6 * kPi; angle < s.q[i] + 7 * kPi; angle += 2 * kPi) {
          const bool inside = angle >= limits.lower - 1e-9 && angle <= limits.upper + 1e-9;
          if (inside && std::abs(angle - seed[i]) < std::abs(best[i] - seed[i])) best[i] = angle;
        }
      }
      const double distance = squared_distance(best, seed);
      ASSERT_EQ(s.result.usable(), std::isfinite(distance));
      if (s.result.usable()) {
        EXPECT_NEAR(squared_distance(s.q, best), 0, 1e-20);
        least = std::min(least, distance);
        if (std::abs(s.q[5] - seed[5]) > kPi) ++turned;
      } else {
        ++outside;
        EXPECT_EQ(s.result.status, IkStatus::kOutsideLimits);
        EXPECT_EQ(s.q[static_cast<std::size_t>(s.result.joint)], s.result.value);
        EXPECT_EQ(best[static_cast<std::size_t>(s.result.joint)], INFINITY);
      }
    }
    Joints q;
    const IkResult result = puma.nearest(pose, seed, q);
    ASSERT_EQ(result.usable(), std::isfinite(least));
    if (result.usable()) {
      EXPECT_NEAR(squared_distance(q, seed), least, 1e-10);
    } else {
      ++none;
      EXPECT_EQ(result.status, IkStatus::kOutsideLimits);
    }
  }
  EXPECT_GT(outside, 1000);
  EXPECT_GT(turned, 100);
  EXPECT_GT(none, 100);
}

TEST(PumaKinematics, AllSolutionsWithinTheLimitsNearestFirst) {
  const PumaKinematics puma(akb());
  const Reference reference(kAkb);
  Random random{std::mt19937(18)};
  std::size_t most = 0;
  for (int k = 0; k < 2000; ++k) {
    const Pose pose = reference.pose(random.joints());
    const Joints seed = random.joints();
    std::size_t expected = 0;  // by trial
    for (const PumaSolution& s : solve(puma, pose, seed)) {
      std::size_t combinations = 1;
      for (std::size_t i = 0; i < 6; ++i) {
        const JointLimits& limits = puma.chain().joints()[i].limits;
        std::size_t inside = 0;
        for (int turns = -3; turns <= 3; ++turns) {
          const double angle = s.q[i] + 2 * kPi * turns;
          if (angle >= limits.lower && angle <= limits.upper) ++inside;
        }
        combinations *= inside;
      }
      expected += combinations;
    }
    const std::vector<Joints> all = puma.solve_all(pose, seed);
    ASSERT_EQ(all.size(), expected);
    most = std::max(most, expected);
    Joints nearest;
    ASSERT_EQ(puma.nearest(pose, seed, nearest).usable(), !all.empty());
    if (!all.empty()) {
      EXPECT_NEAR(squared_distance(all.front(), nearest), 0, 1e-20);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_LT(difference(reference.pose(all[i]), pose), 1e-12);
      if (i > 0) {
        EXPECT_LE(squared_distance(all[i - 1], seed), squared_distance(all[i], seed));
      }
    }
  }
  EXPECT_GT(most, 8u);  // joint 6 turns by more than a whole turn
}

TEST(PumaKinematics, BranchesThatMeetCountOnce) {
  const PumaKinematics puma(akb());
  const Reference reference(kAkb);
  // Forearm in line with the upper arm: elbow + and − are one.
  const Joints stretched{0.3, -0.4, std::atan2(0.4331, -0.0203), 1.0, 0.7, 0.6};
  Joints bent = stretched;
  bent[2] += 0.1;
  EXPECT_EQ(puma.solve_all(reference.pose(stretched), stretched).size(),
            puma.solve_all(reference.pose(bent), bent).size() / 2);
}

TEST(PumaKinematics, OutOfReachSaysWhereAndByHowMuch) {
  const PumaKinematics puma(chain_of(puma600(0.433)));
  const Matrix3 level{1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double reach = 0.432 + std::hypot(0.02, 0.433);
  Joints q;
  const IkResult far = puma.nearest({level, {0, 0.15, reach + 0.1}}, Joints{}, q);
  EXPECT_EQ(far.status, IkStatus::kOutOfReach);
  EXPECT_NEAR(far.value, 0.1, 1e-12);
  EXPECT_NE(describe(far, puma.chain()).find("0.1 m too far from axis 2"), std::string::npos);
  const IkResult near = puma.nearest({level, {0.03, 0.04, 0.5}}, Joints{}, q);
  EXPECT_EQ(near.status, IkStatus::kOutOfReach);
  EXPECT_NEAR(near.value, 0.05 - 0.15, 1e-12);
  EXPECT_NE(describe(near, puma.chain()).find("0.1 m too near to axis 1"), std::string::npos);
}

TEST(PumaKinematics, SingularPosturesAreSolvedAndSaidToBe) {
  const PumaKinematics puma(chain_of(puma600(0.433)));
  const Reference reference(puma600(0.433));
  const auto all = [&](const Joints& q, const Joints& seed) {
    const Solutions solutions = solve(puma, reference.pose(q), seed);
    for (const PumaSolution& s : solutions) {
      EXPECT_TRUE(s.result.usable());
      EXPECT_LT(difference(reference.pose(s.q), reference.pose(q)), 1e-10);
    }
    return solutions;
  };
  // Wrist: q5 = 0 leaves q4 + q6 fixed; q4 is the seed's.
  const Joints straight{0.3, -0.4, 0.5, 1.0, 0, 0.6}, seed{0.3, -0.4, 0.5, -0.7, 0.1, 0};
  all(straight, seed);
  Joints q;
  const IkResult result = puma.nearest(reference.pose(straight), seed, q);
  EXPECT_EQ(result.status, IkStatus::kWristSingular);
  EXPECT_NEAR(q[3], -0.7, 1e-12);
  EXPECT_NEAR(q[5], 1.6 + 0.7, 1e-9);
  EXPECT_NE(describe(result, puma.chain()).find("wrist singularity"), std::string::npos);
  // Elbow: forearm in line with the upper arm.
  const double stretched = std::atan2(0.433, -0.02);
  const auto elbow = all({0.3, -0.4, stretched, 1.0, 0.7, 0.6}, Joints{});
  EXPECT_EQ(elbow[0].result.status, IkStatus::kElbowSingular);
  // Shoulder: the wrist point straight above the shoulder, in the plane x1 = 0.
  const double q2 = -1.1;
  const double across = -0.432 * std::cos(q2) / std::hypot(0.02, 0.433);
  const Joints above{0.3, q2, stretched + std::acos(across) - q2, 1.0, 0.7, 0.6};
  EXPECT_LT(std::abs(puma.singularity(above).measure), 1e-12);
  for (const PumaSolution& s : all(above, Joints{}))
    EXPECT_EQ(s.result.status, IkStatus::kShoulderSingular) << describe(s.result, puma.chain());
}

TEST(PumaKinematics, NextToSingularitiesThePoseStaysExact) {
  const PumaKinematics puma(chain_of(puma600(0.433)));
  const Reference reference(puma600(0.433));
  Random random{std::mt19937(10)};
  double worst = 0;
  for (int k = 0; k < 20000; ++k) {
    Joints q = random.joints();
    const double near = random.sign() * std::pow(10, random(-16, -1));
    if (k % 2 == 0) q[4] = near;
    if (k % 3 == 0) q[2] = std::atan2(0.433, -0.02) + near;
    const Pose pose = reference.pose(q);
    for (const PumaSolution& s : solve(puma, pose, random.joints())) {
      ASSERT_TRUE(s.result.usable());
      worst = ga_dynamics::test::worse(worst, difference(reference.pose(s.q), pose));
    }
  }
  EXPECT_LT(worst, 1.5e-10);  // by a turn of 1e-10 rad where q4 is the seed's
}

TEST(PumaKinematics, WithoutLateralOffsetTheWristMayStandOnAxis1) {
  Table table = puma600(0.433);
  table[2].d = 0;
  const PumaKinematics puma(chain_of(table));
  const Pose pose{rotation_zyz(0.1, 0.8, 0.3), {0, 0, 0.6}};
  for (const PumaSolution& s : solve(puma, pose, {1.2, 0, 0, 0, 0, 0})) {
    EXPECT_EQ(s.result.status, IkStatus::kShoulderSingular);
    EXPECT_NEAR(s.q[0], 1.2, 1e-12);
    EXPECT_LT(difference(Reference(table).pose(s.q), pose), 1e-12);
  }
}

TEST(PumaKinematics, OtherArmsAreRefusedByName) {
  const auto changed = [](std::size_t row, auto change) {
    Table table = puma600(0.433);
    change(table[row]);
    return chain_of(table);
  };
  const auto contains = [](const Chain& chain, const std::string& part) {
    try {
      const PumaKinematics puma(chain);
      ADD_FAILURE() << "accepted: " << part;
    } catch (const KinematicsError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(part), std::string::npos) << text;
      EXPECT_NE(text.find("use NumericKinematics"), std::string::npos) << text;
    }
  };
  contains(changed(1, [](auto& dh) { dh.alpha = 1.5; }), "axis 2 ('joint2') is twisted by 1.5");
  contains(changed(2, [](auto& dh) { dh.alpha = 0.1; }), "axis 3 ('joint3') is not parallel");
  contains(changed(2, [](auto& dh) { dh.a = 0; }), "the upper arm (a of joint 'joint3')");
  contains(changed(3, [](auto& dh) { dh.a = dh.d = 0; }), "the forearm");
  contains(changed(4, [](auto& dh) { dh.d = 0.01; }), "d of joint 'joint5' is 0.01 m");
  contains(changed(5, [](auto& dh) { dh.a = 0.02; }), "a of joint 'joint6' is 0.02 m");
  contains(Chain::from_dh(std::vector<DhJoint>(4)), "4 joints instead of 6");
  std::vector<DhJoint> sliding(6);
  sliding[1].type = JointType::kPrismatic;
  contains(Chain::from_dh(sliding), "joint 'joint2' is prismatic");
}

// Provenzano et al. and Mata, Valera et al.: [0.6 0.175 0.25] m, ZYZ (45° 60° 90°); the joint
// angles of the four branches with the wrist +, found independently of this code.
TEST(PumaKinematics, StartOfThePublishedLine) {
  const Pose pose{rotation_zyz(kPi / 4, kPi / 3, kPi / 2), {0.6, 0.175, 0.25}};
  const Joints degrees[] = {{30.1, -63.2, 174.0, 163.8, 52.8, -72.5},     // arm +, elbow +
                            {30.1, 18.4, 11.3, 24.8, 31.9, 76.1},         // +, −
                            {-177.6, 161.6, 174.0, -122.5, 44.1, 66.3},   // −, +
                            {-177.6, -116.8, 11.3, -41.9, 61.3, -42.0}};  // −, −
  const Solutions solutions = solve(PumaKinematics(chain_of(puma600(0.433))), pose, {});
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_NEAR(solutions[2 * k].q[i] * 180 / kPi, degrees[k][i], 0.0501) << k << ", " << i;
  }
}

TEST(PumaKinematics, FollowDoesNotTurnRoundAtALimit) {
  // Joint 6 ends at 4.64 rad; a turn back would be within its limits, and a whole turn away.
  const PumaKinematics puma(akb());
  const Joints seed{0.3, -0.8, 1.2, 0.4, 0.6, 4.6}, beyond{0.3, -0.8, 1.2, 0.4, 0.6, 4.7};
  const Pose pose = Reference(kAkb).pose(beyond);
  Joints q{};
  EXPECT_EQ(puma.follow(pose, seed, q).status, IkStatus::kOutsideLimits);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(q[i], beyond[i], 1e-9) << "joint " << i + 1;
  ASSERT_TRUE(puma.nearest(pose, seed, q).usable());
  EXPECT_LT(q[5], 4.65);
}

}  // namespace
}  // namespace ga_motion
