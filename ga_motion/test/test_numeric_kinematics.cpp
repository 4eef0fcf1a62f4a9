// SPDX-License-Identifier: Apache-2.0

// Kinematics of any chain: forward against Orocos KDL, and back by search, alone and along straight
// lines; and the lines that no arm can follow.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainjnttojacdotsolver.hpp>
#include <kdl/chainjnttojacsolver.hpp>
#include <numbers>

#include "ga_motion/cartesian_line.hpp"
#include "ga_motion/kinematics.hpp"
#include "random_robot.hpp"
#include "worse.hpp"

// Eigen calls malloc(), which test_support's counting allocator does not see.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define GA_COUNT_MALLOC
static long mallocs = 0;
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {
  ++mallocs;
  return __libc_malloc(size);
}
#endif

namespace ga_motion {

using namespace ga_dynamics;
namespace {

using ga_dynamics::test::RandomRobot;
using Values = std::vector<double>;
constexpr double kPi = std::numbers::pi;

double difference(const Pose& a, const Pose& b) {
  double worst = 0;
  for (std::size_t i = 0; i < 9; ++i)
    worst = ga_dynamics::test::worse(worst, std::abs(a.rotation[i] - b.rotation[i]));
  for (std::size_t i = 0; i < 3; ++i)
    worst = ga_dynamics::test::worse(worst, std::abs(a.translation[i] - b.translation[i]));
  return worst;
}

Pose to_pose(const KDL::Frame& frame) {
  Pose pose;
  for (std::size_t i = 0; i < 3; ++i) {
    pose.translation[i] = frame.p(static_cast<int>(i));
    for (std::size_t k = 0; k < 3; ++k)
      pose.rotation[3 * i + k] = frame.M(static_cast<int>(i), static_cast<int>(k));
  }
  return pose;
}

KDL::JntArray to_kdl(const Values& values) {
  KDL::JntArray array(static_cast<unsigned>(values.size()));
  for (unsigned i = 0; i < values.size(); ++i) array(i) = values[i];
  return array;
}

TEST(Kinematics, PoseJacobianAndVelocityProductOfRandomChainsAgreeWithKdl) {
  for (int n = 1; n <= 9; ++n) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      RandomRobot robot(n, 77u * seed + static_cast<unsigned>(n), {.nearly_parallel = 0.1});
      const KDL::Chain kdl = robot.kdl();
      const std::string tip = kdl.getSegment(kdl.getNrOfSegments() - 1).getName();
      const NumericKinematics kinematics(Chain::from_urdf_text(robot.urdf(), {.tip = tip}));
      const Values q = robot.positions(n), qd = robot.rates(n);
      Pose pose;
      kinematics.forward(q, pose);
      KDL::Frame frame;
      KDL::ChainFkSolverPos_recursive(kdl).JntToCart(to_kdl(q), frame);
      EXPECT_LT(difference(pose, to_pose(frame)), 1e-12);
      Values jacobian(6 * q.size()), product(6);
      kinematics.jacobian(q, jacobian);
      KDL::Jacobian expected(static_cast<unsigned>(n));
      KDL::ChainJntToJacSolver(kdl).JntToJac(to_kdl(q), expected);
      kinematics.velocity_product(q, qd, product);
      KDL::Twist rate;
      KDL::ChainJntToJacDotSolver(kdl).JntToJacDot(KDL::JntArrayVel(to_kdl(q), to_kdl(qd)), rate);
      for (unsigned row = 0; row < 6; ++row) {
        EXPECT_NEAR(product[row], rate(static_cast<int>(row)), 1e-10) << n << " " << seed;
        for (unsigned i = 0; i < q.size(); ++i)
          EXPECT_NEAR(jacobian[row * q.size() + i], expected(row, i), 1e-12);
      }
    }
  }
}

TEST(Kinematics, NonsenseIsNotAPose) {
  EXPECT_TRUE(is_pose({rotation_zyz(1, 2, 3), {4, 5, 6}}));
  EXPECT_FALSE(is_pose({{2, 0, 0, 0, 2, 0, 0, 0, 2}, {0.4, 0.2, 0.1}}));   // scaled
  EXPECT_FALSE(is_pose({{1, 0, 0, 0, 1, 0, 0, 0, -1}, {0.4, 0.2, 0.1}}));  // mirrored
  EXPECT_FALSE(is_pose({{1, 0, 0, 0, 1, 0, 0, 0, 1}, {NAN, 0, 0}}));
  EXPECT_FALSE(is_pose({{NAN, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}}));
}

struct Count {
  int solved = 0, all = 0;
};

/// Poses of random postures: how many are solved from a seed elsewhere; each solution gives its
/// pose.
Count solve_random_poses(const NumericKinematics& kinematics, RandomRobot& random, int poses,
                         double far) {
  const int n = kinematics.size();
  Count count;
  for (; count.all < poses; ++count.all) {
    Values q(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < q.size(); ++i) {
      const JointLimits& limits = kinematics.chain().joints()[i].limits;
      q[i] = random.uniform(std::max(limits.lower, -kPi), std::min(limits.upper, kPi));
    }
    Values seed = q;
    for (double& value : seed) value += random.uniform(-far, far);
    Pose pose, reached;
    kinematics.forward(q, pose);
    const IkResult result = kinematics.nearest(pose, seed, q);
    if (!result.usable()) continue;
    ++count.solved;
    kinematics.forward(q, reached);
    EXPECT_LT(difference(pose, reached), 1e-10);
    for (std::size_t i = 0; i < q.size(); ++i) {
      const JointLimits& limits = kinematics.chain().joints()[i].limits;
      EXPECT_GE(q[i], limits.lower - 1e-9);
      EXPECT_LE(q[i], limits.upper + 1e-9);
    }
  }
  return count;
}

TEST(NumericKinematics, SolvesARandomSevenJointArm) {
  RandomRobot robot(7, 5, {.prismatic = 0, .fixed = 0, .aligned = 0, .intersecting = 0});
  const NumericKinematics kinematics(Chain::from_urdf_text(robot.urdf()));
  EXPECT_EQ(solve_random_poses(kinematics, robot, 200, 0.1).solved, 200);
  EXPECT_GE(solve_random_poses(kinematics, robot, 200, kPi).solved, 199);
}

/// A SCARA's first three joints with a ball wrist behind them: made-up lengths, with limits.
Chain scara_with_ball_wrist() {
  std::vector<DhJoint> rows(6);
  rows[0].dh.d = 0.3;
  rows[1].dh.a = 0.4;
  rows[2].type = JointType::kPrismatic;
  rows[2].dh.alpha = kPi, rows[2].dh.a = 0.3;
  rows[4].dh.alpha = kPi / 2;
  rows[5].dh.alpha = -kPi / 2, rows[5].dh.d = 0.1;
  const double lower[] = {-2.2, -2.6, 0, -3, -1.6, -3}, upper[] = {2.2, 2.6, 0.2, 3, 1.6, 3};
  for (std::size_t i = 0; i < 6; ++i)
    rows[i].limits.lower = lower[i], rows[i].limits.upper = upper[i];
  return Chain::from_dh(rows);
}

TEST(NumericKinematics, SolvesASixJointArmWithASlidingJointWithinItsLimits) {
  const NumericKinematics kinematics(scara_with_ball_wrist());
  RandomRobot random(1, 6);
  EXPECT_GE(solve_random_poses(kinematics, random, 300, 0.1).solved, 299);
  EXPECT_GE(solve_random_poses(kinematics, random, 300, 2).solved, 299);
}

TEST(NumericKinematics, SolvesTheFourJointScaraWhereItReaches) {
  const NumericKinematics scara(Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf"));
  RandomRobot random(1, 7);
  EXPECT_GE(solve_random_poses(scara, random, 200, 0.5).solved, 199);
  // Four joints cannot tilt the tool.
  Values q(4);
  Pose pose;
  scara.forward(Values{0.3, 0.5, 0.1, 0.2}, pose);
  pose.rotation = rotation_zyz(0.3, 2.5, 0.4);
  const IkResult tilted = scara.nearest(pose, Values{0.3, 0.5, 0.1, 0.2}, q);
  EXPECT_EQ(tilted.status, IkStatus::kNotFound);
  EXPECT_GT(tilted.value, 0.1);
  EXPECT_NE(describe(tilted, scara.chain()).find("out of reach, or not found"), std::string::npos);
}

TEST(NumericKinematics, AgreesWithTheClosedFormOfThePuma) {
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  const PumaKinematics closed(chain);
  const NumericKinematics numeric(chain);
  RandomRobot random(1, 8);
  for (int k = 0; k < 200; ++k) {
    Values q(6), seed(6), expected(6), found(6);
    for (std::size_t i = 0; i < 6; ++i) {
      const JointLimits& limits = chain.joints()[i].limits;
      q[i] = random.uniform(limits.lower + 0.1, limits.upper - 0.1);
      seed[i] = q[i] + random.uniform(-0.05, 0.05);
    }
    if (closed.singularity(q).measure < 0.15) continue;
    Pose pose;
    closed.forward(q, pose);
    ASSERT_TRUE(closed.nearest(pose, seed, expected).usable());
    ASSERT_TRUE(numeric.nearest(pose, seed, found).usable());
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);
  }
}

TEST(NumericKinematics, SaysWhatIsInTheWay) {
  const NumericKinematics kinematics(scara_with_ball_wrist());
  const Values seed{0.1, 0.2, 0.1, 0.3, 0.4, 0.5};
  Values q = seed;
  Pose pose;
  kinematics.forward(Values{0.1, 0.2, 0.35, 0.3, 0.4, 0.5}, pose);  // joint 3 ends at 0.2 m
  const IkResult low = kinematics.nearest(pose, seed, q);
  EXPECT_EQ(low.status, IkStatus::kOutsideLimits);
  EXPECT_EQ(q, seed);
  EXPECT_EQ(kinematics.follow(pose, seed, q).status, IkStatus::kOutsideLimits);
  EXPECT_NEAR(q[2], 0.35, 1e-9);
  pose.translation[0] = 5;
  EXPECT_EQ(kinematics.nearest(pose, seed, q).status, IkStatus::kNotFound);
  pose.rotation[0] = 7;
  EXPECT_EQ(kinematics.nearest(pose, seed, q).status, IkStatus::kInvalidPose);
  const Values straight{0.1, 0.2, 0.1, 0.3, 0, 0.5};  // axes 4 and 6 in line
  EXPECT_LT(kinematics.singularity(straight).measure, 1e-12);
  EXPECT_GT(kinematics.singularity(Values{0.1, 1, 0.1, 0.3, 1, 0.5}).measure, 0.01);
}

/// The pose turned about an axis of its own, by Orocos KDL.
Pose turned(const Pose& pose, KDL::Vector axis, double angle) {
  axis.Normalize();
  const Matrix3& r = pose.rotation;
  const KDL::Rotation before(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]);
  const KDL::Frame to(before * KDL::Rotation::Rot2(axis, angle),
                      KDL::Vector(pose.translation[0], pose.translation[1], pose.translation[2]));
  return to_pose(to);
}

/// A solution gives the pose; without one the remaining distance is reported.
void expect_honest(const NumericKinematics& kinematics, const Pose& pose, const IkResult& result,
                   const Values& q) {
  if (result.usable()) {
    Pose reached;
    kinematics.forward(q, reached);
    EXPECT_LT(difference(pose, reached), 1e-9);
  } else if (result.status != IkStatus::kOutsideLimits) {
    EXPECT_EQ(result.status, IkStatus::kNotFound);
    EXPECT_GT(result.value, 1e-10);
  }
}

TEST(NumericKinematics, SingularityIsTheRatioOfTheJacobiansSingularValues) {
  for (const int joints : {3, 5, 6, 7, 9}) {
    RandomRobot robot(joints, 3, {.prismatic = 0, .fixed = 0});
    const NumericKinematics kinematics(Chain::from_urdf_text(robot.urdf()));
    const Chain& chain = kinematics.chain();
    double length = 0;
    for (const ChainJoint& joint : chain.joints())
      length += std::abs(joint.dh.a) + std::abs(joint.dh.d);
    const Vector3& tool = chain.tip().pose.translation;
    length += std::hypot(tool[0], tool[1], tool[2]);
    for (int k = 0; k < 50; ++k) {
      const Values q = robot.positions(joints);
      Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> jacobian(6, joints);
      kinematics.jacobian(q, {jacobian.data(), 6 * q.size()});
      jacobian.topRows(3) /= length;
      const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(jacobian).singularValues();
      EXPECT_NEAR(kinematics.singularity(q).measure, values(values.size() - 1) / values(0), 1e-14);
    }
  }
}

TEST(NumericKinematics, ToolsTurnedByAnyAngleAreSolvedOrReported) {
  const KDL::Vector axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {-1, 2, 3}};
  const double angles[] = {0, 1e-9, 1e-6, 1e-3, kPi / 2, kPi - 1e-3, kPi - 1e-6, kPi - 1e-9, kPi};
  RandomRobot robot(7, 5, {.prismatic = 0, .fixed = 0, .aligned = 0, .intersecting = 0});
  const NumericKinematics seven(Chain::from_urdf_text(robot.urdf()));
  const NumericKinematics puma(Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf"));
  const NumericKinematics scara(Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf"));
  const std::pair<const NumericKinematics*, Values> arms[] = {
      {&seven, {0.3, -0.4, 0.5, 0.6, -0.7, 0.8, 0.2}},
      {&puma, {0.3, -0.6, 2.6, 0.4, 0.9, 0.2}},
      {&scara, {0.3, 0.9, 0.05, 0.4}}};
  for (const auto& [kinematics, start] : arms) {
    Pose pose;
    kinematics->forward(start, pose);
    for (const KDL::Vector& axis : axes) {
      for (const double angle : angles) {
        SCOPED_TRACE(std::to_string(start.size()) + " joints, angle " + std::to_string(angle));
        const Pose goal = turned(pose, axis, angle);
        Values q = start;
        const IkResult follow = kinematics->follow(goal, start, q);
        expect_honest(*kinematics, goal, follow, q);
        if (start.size() > 4 && angle <= 1e-3) {
          EXPECT_TRUE(follow.usable());
          for (std::size_t i = 0; i < q.size(); ++i)
            EXPECT_NEAR(q[i], start[i], 10 * angle + 1e-13);
        }
        q = start;
        const IkResult nearest = kinematics->nearest(goal, start, q);
        expect_honest(*kinematics, goal, nearest, q);
        if (!nearest.usable()) {
          EXPECT_EQ(q, start);
        }
      }
    }
  }
}

TEST(NumericKinematics, TheSameCallGivesTheSameAnswer) {
  RandomRobot robot(6, 9, {.prismatic = 0, .fixed = 0, .aligned = 0, .intersecting = 0});
  const NumericKinematics one(Chain::from_urdf_text(robot.urdf()));
  const auto other = one.clone();
  for (int k = 0; k < 20; ++k) {
    Values q = robot.positions(6), seed = robot.positions(6), first(6), second(6);
    Pose pose;
    one.forward(q, pose);
    const bool solved = one.nearest(pose, seed, first).usable();
    EXPECT_EQ(other->nearest(pose, seed, second).usable(), solved);
    EXPECT_EQ(first, second);
  }
}

#ifdef GA_COUNT_MALLOC
TEST(NumericKinematics, SearchesWithoutAllocating) {
  for (const int joints : {4, 6, 7}) {
    RandomRobot robot(joints, 9, {.prismatic = 0.2, .fixed = 0});
    const NumericKinematics kinematics(Chain::from_urdf_text(robot.urdf()));
    Values q(static_cast<std::size_t>(joints));
    const Values goal = robot.values(joints, 0.5), seed = robot.positions(joints);
    Pose pose, far;
    kinematics.forward(goal, pose);
    far = pose;
    far.translation[0] += 100;
    const long before = mallocs;
    kinematics.nearest(pose, seed, q);
    kinematics.nearest(far, seed, q);
    kinematics.follow(pose, seed, q);
    kinematics.singularity(q);
    kinematics.branch_number(q);
    const long after = mallocs;
    EXPECT_EQ(after, before) << joints << " joints";
    const Values copy = q;
    EXPECT_GT(mallocs, after);
  }
}
#endif

// --- straight lines: by search, and what is in the way of them ---

TEST(NumericLine, OnThePumaMatchesTheClosedForm) {
  const Chain chain = Chain::from_urdf_file(std::string(GA_ROBOTS) + "/puma560_akb.urdf");
  const PumaKinematics closed(chain);
  const Values start{0.3, -0.6, 2.6, 0.4, 0.9, 0.2};
  Pose from, to;
  closed.forward(start, from);
  to = from;
  to.translation[0] -= 0.1, to.translation[1] += 0.15, to.translation[2] += 0.05;
  for (const double blend : {0.0, 0.3}) {
    const CartesianLine line(from, to, 0.2, blend);
    const auto exact = make_cartesian_line(closed, line, start);
    const auto spline = make_cartesian_line(NumericKinematics(chain), line, start);
    ASSERT_EQ(exact->duration(), spline->duration());
    Values q(6), qd(6), qdd(6), sq(6), sqd(6), sqdd(6);
    for (int k = -5; k <= 1005; ++k) {
      const double t = exact->duration() * k / 1000;
      exact->sample(t, q, qd, qdd);
      spline->sample(t, sq, sqd, sqdd);
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_NEAR(sq[i], q[i], 1e-8);  // LineOptions::joint_tolerance
        EXPECT_NEAR(sqd[i], qd[i], 1e-7);
        EXPECT_NEAR(sqdd[i], qdd[i], 1e-4);
      }
    }
  }
}

/// Largest pose error of the tool along the line.
double tool_error(const InverseKinematics& kinematics, const CartesianLine& line,
                  const Trajectory& motion) {
  const auto n = static_cast<std::size_t>(kinematics.size());
  Values q(n), qd(n), qdd(n);
  double worst = 0;
  for (int k = 0; k <= 997; ++k) {
    const double t = motion.duration() * k / 997;
    motion.sample(t, q, qd, qdd);
    Pose pose;
    kinematics.forward(q, pose);
    worst = std::max(worst, difference(pose, line.pose(line.travel(t).way)));
  }
  return worst;
}

TEST(NumericLine, OfARedundantArmAndOfTheScara) {
  RandomRobot robot(7, 5, {.prismatic = 0, .fixed = 0, .aligned = 0, .intersecting = 0});
  const NumericKinematics seven(Chain::from_urdf_text(robot.urdf()));
  const NumericKinematics scara(Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf"));
  const std::pair<const NumericKinematics*, Values> arms[] = {
      {&seven, {0.3, -0.4, 0.5, 0.6, -0.7, 0.8, 0.2}}, {&scara, {0.3, 0.9, 0.05, 0.4}}};
  for (const auto& [kinematics, start] : arms) {
    Pose from, to;
    kinematics->forward(start, from);
    to = from;
    to.translation[0] += 0.08, to.translation[1] -= 0.1, to.translation[2] -= 0.06;
    const CartesianLine line(from, to, 0.1, 0.2);
    const auto motion = make_cartesian_line(*kinematics, line, start);
    EXPECT_LT(tool_error(*kinematics, line, *motion), 5e-8) << start.size();
    const auto coarse = make_cartesian_line(*kinematics, line, start, {.joint_tolerance = 1e-4});
    EXPECT_LT(tool_error(*kinematics, line, *coarse), 5e-4) << start.size();
  }
}

TEST(NumericLine, LeavingTheLimitsNamesTheJoint) {
  const NumericKinematics scara(Chain::from_urdf_file(std::string(GA_ROBOTS) + "/scara.urdf"));
  const Values start{0.3, 0.9, 0.05, 0.4};
  Pose from, to;
  scara.forward(start, from);
  to = from;
  to.translation[2] += 0.1;  // the quill ends after 0.05 m
  try {
    make_cartesian_line(scara, CartesianLine(from, to, 0.1, 0), start);
    FAIL() << "accepted";
  } catch (const KinematicsError& error) {
    EXPECT_NE(std::string(error.what()).find("joint 'quill' at -0.00"), std::string::npos)
        << error.what();
    EXPECT_EQ(error.result().status, IkStatus::kOutsideLimits);
    EXPECT_EQ(error.result().joint, 2);
  }
}

/// The PUMA of Mata, Valera et al., Table 5, with d4 = +0.433, and the same limits for all joints.
Chain puma600(double limit = INFINITY, double fastest = INFINITY) {
  const double right = kPi / 2;
  const DhParameters dh[] = {{},       {-right}, {0, 0.432, -0.15}, {right, -0.02, 0.433},
                             {-right}, {right}};
  std::vector<DhJoint> rows(6);
  for (std::size_t i = 0; i < 6; ++i) {
    rows[i].dh = dh[i];
    rows[i].limits = {-limit, limit, fastest, INFINITY};
  }
  return Chain::from_dh(rows);
}

TEST(NumericKinematics, AToolTurnedHalfAroundIsReachedByTurningIt) {
  // A ball wrist without limits, the tool in its center: every orientation is in reach.
  const NumericKinematics puma(puma600());
  const Values start{0.3, -0.6, 2.6, 0.4, 0.9, 0.2};
  Pose pose;
  puma.forward(start, pose);
  for (const KDL::Vector& axis :
       {KDL::Vector(1, 0, 0), KDL::Vector(0, 1, 0), KDL::Vector(0, 0, 1), KDL::Vector(1, 1, 1)}) {
    for (const double angle : {kPi / 2, kPi - 1e-6, kPi}) {
      const Pose goal = turned(pose, axis, angle);
      Values q = start;
      const IkResult result = puma.nearest(goal, start, q);
      ASSERT_TRUE(result.usable()) << describe(result, puma.chain());
      double moved = 0;
      for (std::size_t i = 0; i < q.size(); ++i) moved = std::max(moved, std::abs(q[i] - start[i]));
      EXPECT_GT(moved, 0.5);
      Pose reached;
      puma.forward(q, reached);
      EXPECT_LT(difference(goal, reached), 1e-9);
    }
  }
}

std::string refusal(const std::function<void()>& make) {
  try {
    make();
  } catch (const KinematicsError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PumaLine, ErrorsNameThePlaceTheJointTheValueAndTheRemedy) {
  const PumaKinematics puma(puma600());
  const Matrix3 hand = rotation_zyz(kPi / 4, kPi / 3, kPi / 2);
  const Pose start{hand, {0.6, 0.175, 0.25}};
  const auto line_to = [&](const Pose& from, const Vector3& to, const PumaKinematics& arm,
                           const PumaBranch& branch) {
    return refusal([&] {
      make_cartesian_line(arm, CartesianLine(from, {from.rotation, to}, 0.1, 0), branch);
    });
  };
  expect_parts(line_to(start, {1.2, 0.175, 0.25}, puma, {}),
               {"0.224 m of 0.6 m from its start, tool at [0.824 0.175 0.25] m: out of reach",
                "too far from axis 2; move the line"});
  // The lateral offset keeps the wrist 0.15 m away from axis 1: through that, and close by.
  expect_parts(line_to({hand, {0.3, 0.1, 0.3}}, {-0.3, 0.1, 0.3}, puma, {}),
               {"0.189 m of 0.6 m", "out of reach", "too near to axis 1"});
  expect_parts(line_to({hand, {0.3, 0.151, 0.3}}, {-0.3, 0.151, 0.3}, puma, {}),
               {"shoulder singularity", "0.01", "singularity_margin"});
  // Upper arm and forearm nearly in line: 20 µm short of the reach.
  const double reach = 0.432 + std::hypot(0.02, 0.433) - 2e-5;
  expect_parts(line_to({hand, {0.4, -0.15, 0}}, {reach, -0.15, 0}, puma, {}),
               {"elbow singularity", "|sin| = 0.01"});
  // The hand in line with the forearm half-way, q5 = 0.
  Pose straight;
  const Values posture{0.2, -0.6, 1.0, 0.4, 0, 0.1};
  puma.forward(posture, straight);
  Pose before = straight, behind = straight;
  before.translation[0] -= 0.05, behind.translation[0] += 0.05;
  expect_parts(line_to(before, behind.translation, puma, puma.branch_of(posture)),
               {"0.04", "wrist singularity", "|sin q5| = 0.0"});
  // Past it at 1 µm, where joint 4 turns half around at once, without the margin.
  before.translation[1] += 1e-6, behind.translation[1] += 1e-6;
  expect_parts(refusal([&] {
                 make_cartesian_line(puma, CartesianLine(before, behind, 0.1, 0),
                                     puma.branch_of(posture), {.singularity_margin = 0});
               }),
               {"0.04999", "joint 'joint6' jumps from", "divide it"});
  const PumaKinematics limited(puma600(1.5));  // joint 6 turns on from 76°
  expect_parts(line_to(start, {0.018, 0.757, 0}, limited, {1, -1, 1}),
               {"0.1049", "joint 'joint6' at 1.50", "limits -1.5 to 1.5 rad", "another branch"});
  const PumaKinematics slow(puma600(INFINITY, 0.15));
  expect_parts(line_to(start, {0.018, 0.757, 0}, slow, {}),
               {"would move at", "above its limit of 0.15 rad/s", "lower the speed"});
  expect_parts(refusal([&] {
                 CartesianLine(start, {hand, {0.6, 0.175, 0.26}}, 0.1, 0.5);
               }),
               {"0.01 m are shorter than the 0.05 m", "lower the speed or the blend time"});
  expect_parts(refusal([&] {
                 CartesianLine(start, {rotation_zyz(0.8, 1, 1.5), {0, 0, 1}}, 1, 0);
               }),
               {"orientations of start and end differ"});
  expect_parts(refusal([&] { CartesianLine(start, start, 1, 0); }), {"coincide"});
  expect_parts(refusal([&] { CartesianLine(start, {hand, {0, 0, 1}}, 0, 0); }), {"speed 0 m/s"});
}

}  // namespace
}  // namespace ga_motion
