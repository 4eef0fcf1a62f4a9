// SPDX-License-Identifier: Apache-2.0

// Ten thousand cycles of the control loop of a real controller manager: read() and write() of the
// arm, simulated or on emulated cards, and update() of every law, with or without the stock
// trajectory controller, neither allocate nor block, nor do they in the cycle of a controller
// switch. All are loaded from their plugins; this program intercepts the calls.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <control_msgs/msg/dynamic_joint_state.hpp>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <rcl_interfaces/srv/set_parameters.hpp>
#include <trajectory_msgs/msg/joint_trajectory.hpp>

#include "control_loop.hpp"
#include "realtime_watch.hpp"

namespace {

using namespace std::chrono_literals;
using test::Account;
using test::ControlLoop;
using test::kStart;
using test::Names;

constexpr int kCycles = 10000, kSwaps = 10;

struct Accounts {
  Account read, write, reference, update, swap;
  Accounts() {
    for (Account* account : {&read, &write, &reference, &update, &swap}) {
      account->time.reserve(4 * kCycles);
      account->processor.reserve(4 * kCycles);
    }
  }
};
/// Null outside of the measurement.
Accounts* measured = nullptr;

/// The member function of a plugin that this program intercepts.
template <class Function>
Function original(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  void* const function = handle == nullptr ? nullptr : dlsym(handle, name);
  if (function == nullptr) {
    std::fprintf(stderr, "%s has no %s: the test does not match this plugin\n", library, name);
    std::abort();
  }
  return reinterpret_cast<Function>(function);
}

constexpr char kHardware[] = "libpuma_hardware_plugins.so";
constexpr char kControllers[] = "libga_controllers_plugins.so";

}  // namespace

// Symbols of a program precede those of the libraries that it loads, also in their virtual tables.
// All these functions return an enumeration of one byte and take one or two references, here
// pointers.
#define STEP_IN(library, name, account)                                              \
  extern "C" std::uint8_t name(void* self, const void* first, const void* second) {  \
    using Function = std::uint8_t (*)(void*, const void*, const void*);              \
    static const Function function = original<Function>(library, #name);             \
    const test::Section section(measured == nullptr ? nullptr : &measured->account); \
    return function(self, first, second);                                            \
  }
#define STEP_IN_STATE(library, name, account)                                        \
  extern "C" std::uint8_t name(void* self, const void* state) {                      \
    using Function = std::uint8_t (*)(void*, const void*);                           \
    static const Function function = original<Function>(library, #name);             \
    const test::Section section(measured == nullptr ? nullptr : &measured->account); \
    return function(self, state);                                                    \
  }

// clang-format off
STEP_IN(kHardware, _ZN11ga_hardware9ArmSystem4readERKN6rclcpp4TimeERKNS1_8DurationE, read)
STEP_IN(kHardware, _ZN11ga_hardware9ArmSystem5writeERKN6rclcpp4TimeERKNS1_8DurationE, write)
STEP_IN(kHardware, _ZN11ga_hardware9ArmSystem27perform_command_mode_switchERKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS7_EESB_, swap)
STEP_IN(kControllers, _ZN14ga_controllers13LawController33update_reference_from_subscribersERKN6rclcpp4TimeERKNS1_8DurationE, reference)
STEP_IN(kControllers, _ZN14ga_controllers13LawController25update_and_write_commandsERKN6rclcpp4TimeERKNS1_8DurationE, update)
STEP_IN_STATE(kControllers, _ZN14ga_controllers13LawController11on_activateERKN16rclcpp_lifecycle5StateE, swap)
STEP_IN_STATE(kControllers, _ZN14ga_controllers13LawController13on_deactivateERKN16rclcpp_lifecycle5StateE, swap)
// clang-format on

// The emulated bus has a lock, because other processes access the cards, too; real ports have none.
extern "C" void _ZN13puma_hardware8emulator9CardsLockC1ERNS0_10CardsStateE(void* self,
                                                                           void* state) {
  using Function = void (*)(void*, void*);
  static const Function function = original<Function>(kHardware, __func__);
  const test::Unwatched unwatched;
  function(self, state);
}

namespace {

trajectory_msgs::msg::JointTrajectory goal(double offset, std::chrono::milliseconds duration) {
  trajectory_msgs::msg::JointTrajectory message;
  message.points.resize(1);
  for (std::size_t i = 0; i < 6; ++i) {
    message.joint_names.push_back("joint" + std::to_string(i + 1));
    message.points[0].positions.push_back(kStart[i] + offset);
  }
  message.points[0].velocities = message.points[0].accelerations = std::vector<double>(6);
  message.points[0].time_from_start = rclcpp::Duration(duration);
  return message;
}

/// Moves the arm back and forth, changes gains and sends set-points (ignored if a trajectory
/// controller precedes the law) until it is destroyed: everything that other threads share with the
/// control loop.
class Disturbance {
 public:
  Disturbance(rclcpp::Node& node, const std::string& law)
      : goals_(node.create_publisher<trajectory_msgs::msg::JointTrajectory>(
            "/" + law + "_trajectory/joint_trajectory", 1)),
        set_points_(node.create_publisher<trajectory_msgs::msg::JointTrajectory>(
            "/" + law + "/reference", 1)),
        gains_(
            node.create_client<rcl_interfaces::srv::SetParameters>("/" + law + "/set_parameters")),
        thread_([this] { run(); }) {}
  ~Disturbance() {
    stop_ = true;
    thread_.join();
  }
  int gain_changes() const { return *gain_changes_; }

 private:
  void run() {
    for (int k = 0; !stop_; ++k) {
      if (k % 40 == 0) goals_->publish(goal(k / 40 % 2 == 0 ? 0.1 : 0.0, 500ms));
      set_points_->publish(goal(1e-4 * (k % 40), 0ms));
      auto request = std::make_shared<rcl_interfaces::srv::SetParameters::Request>();
      request->parameters.push_back(
          rclcpp::Parameter("gains.bandwidth", std::vector<double>{k % 2 == 0 ? 40.0 : 45.0})
              .to_parameter_msg());
      gains_->async_send_request(
          request, [changes = gain_changes_](
                       rclcpp::Client<rcl_interfaces::srv::SetParameters>::SharedFuture answer) {
            *changes += answer.get()->results.at(0).successful ? 1 : 0;
          });
      std::this_thread::sleep_for(10ms);
    }
  }

  rclcpp::Publisher<trajectory_msgs::msg::JointTrajectory>::SharedPtr goals_, set_points_;
  rclcpp::Client<rcl_interfaces::srv::SetParameters>::SharedPtr gains_;
  std::atomic<bool> stop_{false};
  /// Shared: the last responses may arrive after the destruction.
  const std::shared_ptr<std::atomic<int>> gain_changes_ = std::make_shared<std::atomic<int>>(0);
  std::thread thread_;
};

/// Latest published state of the first joint. The callback may run during the destruction.
class FirstJoint {
 public:
  FirstJoint(rclcpp::Node& node, const std::string& law)
      : subscription_(node.create_subscription<control_msgs::msg::DynamicJointState>(
            "/" + law + "/controller_state", 10,
            [told = told_](const control_msgs::msg::DynamicJointState& message) {
              const auto& values = message.interface_values.at(0);
              const std::lock_guard lock(told->mutex);
              for (std::size_t k = 0; k < values.values.size(); ++k) {
                told->values[values.interface_names[k]] = values.values[k];
              }
            })) {}
  double operator[](const std::string& name) const {
    const std::lock_guard lock(told_->mutex);
    const auto found = told_->values.find(name);
    return found == told_->values.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
  }

 private:
  struct Told {
    std::mutex mutex;
    std::map<std::string, double> values;
  };
  const std::shared_ptr<Told> told_ = std::make_shared<Told>();
  rclcpp::Subscription<control_msgs::msg::DynamicJointState>::SharedPtr subscription_;
};

/// Prints the times; only the median is checked, so that a stall of the machine does not fail the
/// test.
void check(const std::string& name, const Account& account, long calls) {
  std::printf(
      "%-42s %6ld calls: %ld allocations, %ld frees, %ld locks (%ld waits), %ld sleeps; processor "
      "time %.1f us usually, %.1f us at most; %.1f us by the clock at most\n",
      name.c_str(), account.calls, account.allocations, account.frees, account.locks, account.waits,
      account.sleeps, 1e6 * account.usual_processor(), 1e6 * account.longest_processor(),
      1e6 * account.longest());
  EXPECT_GE(account.calls, calls) << name;
  EXPECT_EQ(account.allocations, 0) << name;
  EXPECT_EQ(account.frees, 0) << name;
  EXPECT_EQ(account.locks, 0) << name;
  EXPECT_EQ(account.sleeps, 0) << name;
  EXPECT_LT(account.usual_processor(), 200e-6) << name;
}

TEST(Realtime, TheWatchSeesAllocationsLocksAndSleeps) {
  Account account;
  std::mutex mutex;
  {
    const test::Section section(&account);
    const std::vector<int> memory(1000);
    const std::lock_guard lock(mutex);
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(memory.size(), 1000u);
  }
  const std::vector<int> outside(1000);
  EXPECT_EQ(account.allocations, 1);
  EXPECT_EQ(account.frees, 1);
  EXPECT_EQ(account.locks, 1);
  EXPECT_EQ(account.waits, 0);
  EXPECT_GE(account.sleeps, 1);
  EXPECT_GT(account.longest(), 1e-3);
}

const std::map<std::string, std::string> kTypes{
    {"gravity_hold", "ga_controllers/GravityHoldController"},
    {"point_to_point", "ga_controllers/PointToPointController"},
    {"tracking", "ga_controllers/TrackingController"},
    {"tracking_integral", "ga_controllers/TrackingIntegralController"}};

/// Loads a law and its trajectory controller; returns the controllers to activate.
Names load_chain(ControlLoop& loop, const std::string& law) {
  EXPECT_TRUE(loop.load(law, kTypes.at(law)));
  if (law == "gravity_hold") return {law};
  EXPECT_TRUE(
      loop.load(law + "_trajectory", "joint_trajectory_controller/JointTrajectoryController"));
  return {law, law + "_trajectory"};
}

class RealtimeOf : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(RealtimeOf, TenThousandCyclesAndSwapsNeitherAllocateNorWait) {
  const std::string plugin = std::get<0>(GetParam()), law = std::get<1>(GetParam());
  ControlLoop loop(plugin);
  ASSERT_TRUE(loop.start(plugin));
  const Names hold = load_chain(loop, "gravity_hold");
  const Names chain = law == "gravity_hold" ? hold : load_chain(loop, law);
  const Names other = law == "gravity_hold" ? load_chain(loop, "tracking") : hold;
  ASSERT_TRUE(loop.activate(chain));
  loop.pass(500);
  Accounts accounts;
  {
    const Disturbance disturbance(loop.user(), law);
    loop.pass(200);
    const long before = loop.cycles();
    measured = &accounts;
    for (int k = 0; k < kSwaps; ++k) {
      loop.pass(kCycles / kSwaps);
      if (k == 0 && law != "gravity_hold") {
        EXPECT_EQ(accounts.reference.calls, 0) << "topics are ignored in chained mode";
      }
      const bool away = k % 2 == 0;
      EXPECT_TRUE(loop.activate(away ? other : chain, away ? chain : other)) << k;
    }
    measured = nullptr;
    const long passed = loop.cycles() - before;
    EXPECT_EQ(accounts.read.calls, passed);
    EXPECT_GE(accounts.update.calls, passed - kSwaps) << "there were cycles without a law";
    EXPECT_GT(disturbance.gain_changes(), 10) << "nothing has disturbed the loop";
  }
  const std::string whose = law + ", " + plugin + ": ";
  check(whose + "read", accounts.read, kCycles);
  check(whose + "write", accounts.write, kCycles);
  check(whose + "update", accounts.update, kCycles);
  check(whose + "swap", accounts.swap, 3 * kSwaps);  // the hardware, the old and the new law
}

INSTANTIATE_TEST_SUITE_P(Arms, RealtimeOf,
                         ::testing::Combine(::testing::Values("PumaSimSystem", "PumaSystem"),
                                            ::testing::Values("gravity_hold", "point_to_point",
                                                              "tracking", "tracking_integral")),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) + "_" +
                                  std::get<1>(tested.param);
                         });

class RealtimeOfSetPoints : public ::testing::TestWithParam<const char*> {};

TEST_P(RealtimeOfSetPoints, TenThousandCyclesFollowATopicAndNeitherAllocateNorWait) {
  const std::string law = GetParam();
  ControlLoop loop("PumaSimSystem");
  ASSERT_TRUE(loop.start("PumaSimSystem"));
  ASSERT_TRUE(loop.load("gravity_hold", kTypes.at("gravity_hold")));
  ASSERT_TRUE(loop.load(law, kTypes.at(law)));
  ASSERT_TRUE(loop.activate({law}));
  const FirstJoint told(loop.user(), law);
  loop.pass(500);
  Accounts accounts;
  {
    const Disturbance disturbance(loop.user(), law);
    loop.pass(200);
    measured = &accounts;
    loop.pass(kCycles);
    measured = nullptr;
    EXPECT_GT(disturbance.gain_changes(), 10) << "nothing has disturbed the loop";
  }
  check(law + ": set-points", accounts.reference, kCycles);
  check(law + ": update", accounts.update, kCycles);
  // Set-points are accepted: the arm moves to the last one.
  const auto set_points = loop.user().create_publisher<trajectory_msgs::msg::JointTrajectory>(
      "/" + law + "/reference", 1);
  const double wanted = kStart[0] + 0.1;
  for (int k = 0; k < 200 && !(std::abs(told["position"] - wanted) < 0.02); ++k) {
    set_points->publish(goal(0.1, 0ms));
    loop.pass(50);
  }
  EXPECT_NEAR(told["reference.position"], wanted, 1e-9);
  EXPECT_NEAR(told["position"], wanted, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Laws, RealtimeOfSetPoints,
                         ::testing::Values("point_to_point", "tracking", "tracking_integral"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
