// SPDX-License-Identifier: Apache-2.0

// The control loop of a real controller manager, ten thousand cycles of it: read() and write() of
// the simulated arm and update() of a law behind the stock trajectory controller neither allocate
// nor wait. All three are loaded from their plugins as ever; this program only steps in where the
// controller manager calls them.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <controller_manager/controller_manager.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <cstdio>
#include <fstream>
#include <future>
#include <rcl_interfaces/srv/set_parameters.hpp>
#include <sstream>
#include <thread>
#include <trajectory_msgs/msg/joint_trajectory.hpp>

#include "realtime_watch.hpp"

namespace {

using controller_interface::return_type;
using namespace std::chrono_literals;
using Names = std::vector<std::string>;
using test::Account;

constexpr int kCycles = 10000;

struct Accounts {
  Account read, write, reference, update;
};
/// Null while nothing is measured.
Accounts* measured = nullptr;

/// A member function of a plugin; the one behind the name that this program has taken.
using Step = std::uint8_t (*)(void* self, const rclcpp::Time&, const rclcpp::Duration&);
Step original(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  void* const function = handle == nullptr ? nullptr : dlsym(handle, name);
  if (function == nullptr) {
    std::fprintf(stderr, "%s has no %s: the test is not of this plugin\n", library, name);
    std::abort();
  }
  return reinterpret_cast<Step>(function);
}

constexpr char kHardware[] = "libpuma_hardware_plugins.so";
constexpr char kControllers[] = "libga_controllers_plugins.so";

}  // namespace

// PumaSimSystem::read and write, LawController::update_reference_from_subscribers and
// update_and_write_commands: names of a program come before those of the libraries that it loads,
// in their tables of virtual functions too. All return an enumeration of one byte.
#define STEP_IN(library, name, account)                                              \
  extern "C" std::uint8_t name(void* self, const rclcpp::Time& time,                 \
                               const rclcpp::Duration& period) {                     \
    static const Step step = original(library, #name);                               \
    const test::Section section(measured == nullptr ? nullptr : &measured->account); \
    return step(self, time, period);                                                 \
  }

STEP_IN(kHardware, _ZN13puma_hardware13PumaSimSystem4readERKN6rclcpp4TimeERKNS1_8DurationE, read)
STEP_IN(kHardware, _ZN13puma_hardware13PumaSimSystem5writeERKN6rclcpp4TimeERKNS1_8DurationE, write)
STEP_IN(
    kControllers,
    _ZN14ga_controllers13LawController33update_reference_from_subscribersERKN6rclcpp4TimeERKNS1_8DurationE,
    reference)
STEP_IN(
    kControllers,
    _ZN14ga_controllers13LawController25update_and_write_commandsERKN6rclcpp4TimeERKNS1_8DurationE,
    update)

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The simulated arm as its launch file describes and configures it, in a time that passes in
/// pass() alone. Everything but the control loop runs in other threads.
class Cell {
 public:
  Cell()
      : executor_(std::make_shared<rclcpp::executors::MultiThreadedExecutor>(
            rclcpp::ExecutorOptions(), 2)),
        manager_(std::make_shared<controller_manager::ControllerManager>(
            executor_, text_of(PUMA_URDF), true, "controller_manager", "", options())),
        user_(std::make_shared<rclcpp::Node>("user")) {
    executor_->add_node(manager_);
    executor_->add_node(user_);
    spinner_ = std::thread([this] { executor_->spin(); });
    pass(10);
  }
  ~Cell() {
    EXPECT_TRUE(succeeds([this] {
      return manager_->shutdown_controllers() ? return_type::OK : return_type::ERROR;
    }));
    executor_->cancel();
    spinner_.join();
  }

  bool load(const std::string& name, const std::string& type) {
    manager_->set_parameter({name + ".params_file", CONTROLLERS_FILE});
    return succeeds([&] {
      if (manager_->load_controller(name, type) == nullptr) return return_type::ERROR;
      return manager_->configure_controller(name);
    });
  }
  bool activate(const Names& names) {
    return succeeds([&] {
      return manager_->switch_controller(
          names, {}, controller_manager_msgs::srv::SwitchController::Request::STRICT, true,
          rclcpp::Duration::from_seconds(20));
    });
  }
  /// What a service of the controller manager does in its own thread while the loop goes on.
  bool succeeds(const std::function<return_type()>& service) {
    std::future<return_type> result = std::async(std::launch::async, service);
    while (result.wait_for(1ms) != std::future_status::ready) pass(1);
    return result.get() == return_type::OK;
  }
  void pass(int cycles) {
    for (int k = 0; k < cycles; ++k) {
      const rclcpp::Duration period(1ms);
      time_ = time_ + period;
      {
        const std::lock_guard lock(manager_->get_clock()->get_clock_mutex());
        EXPECT_EQ(rcl_set_ros_time_override(manager_->get_clock()->get_clock_handle(),
                                            time_.nanoseconds()),
                  RCL_RET_OK);
      }
      manager_->read(time_, period);
      manager_->update(time_, period);
      manager_->write(time_, period);
      std::this_thread::sleep_for(50us);  // for the others
    }
  }
  rclcpp::Node& user() { return *user_; }

 private:
  static rclcpp::NodeOptions options() {
    return controller_manager::get_cm_node_options()
        .append_parameter_override("update_rate", 1000)
        .append_parameter_override("use_sim_time", true);
  }
  std::shared_ptr<rclcpp::Executor> executor_;
  std::shared_ptr<controller_manager::ControllerManager> manager_;
  rclcpp::Node::SharedPtr user_;
  std::thread spinner_;
  rclcpp::Time time_{1, 0, RCL_ROS_TIME};
};

/// Sends the arm to and fro, changes gains and sends set-points (refused where a trajectory
/// controller precedes), until it is destroyed: all that other threads share with the control loop.
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
  int gain_changes() const { return gain_changes_; }

 private:
  void run() {
    for (int k = 0; !stop_; ++k) {
      if (k % 40 == 0) goals_->publish(goal(k / 40 % 2 == 0 ? 0.3 : 0.0, 500ms));
      set_points_->publish(goal(1e-3 * (k % 40), 0ms));
      auto request = std::make_shared<rcl_interfaces::srv::SetParameters::Request>();
      request->parameters.push_back(
          rclcpp::Parameter("gains.bandwidth", std::vector<double>{k % 2 == 0 ? 40.0 : 45.0})
              .to_parameter_msg());
      gains_->async_send_request(
          request, [this](rclcpp::Client<rcl_interfaces::srv::SetParameters>::SharedFuture answer) {
            gain_changes_ += answer.get()->results.at(0).successful ? 1 : 0;
          });
      std::this_thread::sleep_for(10ms);
    }
  }
  static trajectory_msgs::msg::JointTrajectory goal(double offset,
                                                    std::chrono::milliseconds duration) {
    trajectory_msgs::msg::JointTrajectory message;
    message.points.resize(1);
    for (int i = 1; i <= 6; ++i) {
      message.joint_names.push_back("joint" + std::to_string(i));
      message.points[0].positions.push_back(offset);
    }
    message.points[0].velocities = message.points[0].accelerations = std::vector<double>(6);
    message.points[0].time_from_start = rclcpp::Duration(duration);
    return message;
  }

  rclcpp::Publisher<trajectory_msgs::msg::JointTrajectory>::SharedPtr goals_, set_points_;
  rclcpp::Client<rcl_interfaces::srv::SetParameters>::SharedPtr gains_;
  std::atomic<bool> stop_{false};
  std::atomic<int> gain_changes_{0};
  std::thread thread_;
};

void check(const char* name, const Account& account, long calls) {
  std::printf(
      "%-36s %6ld calls: %ld allocations, %ld frees, %ld locks (%ld waits), %ld sleeps; processor "
      "time %.1f us usually, %.1f us at most; %.1f us by the clock at most\n",
      name, account.calls, account.allocations, account.frees, account.locks, account.waits,
      account.sleeps, 1e6 * account.usual_processor(), 1e6 * account.longest_processor(),
      1e6 * account.longest());
  EXPECT_EQ(account.calls, calls) << name;
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

std::string type_of(const std::string& law) {
  return law == "tracking" ? "ga_controllers/TrackingController"
                           : "ga_controllers/TrackingIntegralController";
}

class RealtimeOf : public ::testing::TestWithParam<const char*> {};

TEST_P(RealtimeOf, TenThousandCyclesNeitherAllocateNorWait) {
  const std::string law = GetParam();
  Cell cell;
  ASSERT_TRUE(cell.load("gravity_hold", "ga_controllers/GravityHoldController"));
  ASSERT_TRUE(cell.load(law, type_of(law)));
  ASSERT_TRUE(
      cell.load(law + "_trajectory", "joint_trajectory_controller/JointTrajectoryController"));
  ASSERT_TRUE(cell.activate({law, law + "_trajectory"}));
  cell.pass(500);
  Accounts accounts;
  for (Account* account :
       {&accounts.read, &accounts.write, &accounts.reference, &accounts.update}) {
    account->time.reserve(kCycles);
    account->processor.reserve(kCycles);
  }
  {
    const Disturbance disturbance(cell.user(), law);
    cell.pass(200);
    measured = &accounts;
    cell.pass(kCycles);
    measured = nullptr;
    EXPECT_GT(disturbance.gain_changes(), 10) << "nothing has disturbed the loop";
  }
  check((law + ": PumaSimSystem::read").c_str(), accounts.read, kCycles);
  check((law + ": PumaSimSystem::write").c_str(), accounts.write, kCycles);
  check((law + ": LawController::update").c_str(), accounts.update, kCycles);
  EXPECT_EQ(accounts.reference.calls, 0) << "behind a trajectory controller topics do not count";
}

TEST_P(RealtimeOf, TenThousandCyclesWithSetPointsFromATopicNeitherAllocateNorWait) {
  const std::string law = GetParam();
  Cell cell;
  ASSERT_TRUE(cell.load("gravity_hold", "ga_controllers/GravityHoldController"));
  ASSERT_TRUE(cell.load(law, type_of(law)));
  ASSERT_TRUE(cell.activate({law}));
  cell.pass(500);
  Accounts accounts;
  {
    const Disturbance disturbance(cell.user(), law);
    cell.pass(200);
    for (Account* account :
         {&accounts.read, &accounts.write, &accounts.reference, &accounts.update}) {
      account->time.reserve(kCycles);
      account->processor.reserve(kCycles);
    }
    measured = &accounts;
    cell.pass(kCycles);
    measured = nullptr;
  }
  check((law + ": set-points").c_str(), accounts.reference, kCycles);
  check((law + ": LawController::update").c_str(), accounts.update, kCycles);
}

INSTANTIATE_TEST_SUITE_P(Laws, RealtimeOf, ::testing::Values("tracking", "tracking_integral"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
