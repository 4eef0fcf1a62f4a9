// SPDX-License-Identifier: Apache-2.0

// The pairs of links that a planner need not check for collision, for an SRDF: neighbors, and pairs
// that collide at all or at none of many random postures within the (soft) limits. The checks are
// MoveIt's.

#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <moveit/planning_scene/planning_scene.hpp>
#include <rclcpp/logging.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using LinkPair = std::pair<std::string, std::string>;  // in the order of the description

constexpr const char* kUsage =
    "usage: sample_collisions ROBOT.urdf [--samples N] [--seed N] [--joints NAME,…] [--counts]\n"
    "\n"
    "Prints the <disable_collisions> tags of an SRDF: neighbors, and pairs of links that collide at\n"
    "all or at none of the random postures within the soft limits (100,000).\n"
    "  --joints  those that move; the others stay at zero. Default: all\n"
    "  --counts  a table of all pairs instead: links, and the share of postures with a collision\n";

struct Options {
  std::string file;
  int samples = 100000;
  std::uint32_t seed = 1;
  std::vector<std::string> joints;
  bool counts = false;
};

template <class Number>
Number number(std::string_view option, std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= 1) return value;
  throw std::invalid_argument(std::string(option) + " " + std::string(text) +
                              ": give a whole number from 1 on");
}

Options parse(int argc, const char* const* argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    const auto value = [&] {
      if (k + 1 < argc) return std::string(argv[++k]);
      throw std::invalid_argument(std::string(word) + ": give a value");
    };
    if (word == "--samples") {
      options.samples = number<int>(word, value());
    } else if (word == "--seed") {
      options.seed = number<std::uint32_t>(word, value());
    } else if (word == "--joints") {
      std::istringstream names(value());
      for (std::string name; std::getline(names, name, ',');) options.joints.push_back(name);
    } else if (word == "--counts") {
      options.counts = true;
    } else if (options.file.empty() && !word.starts_with("--")) {
      options.file = word;
    } else {
      throw std::invalid_argument(std::string(word) + ": no such option\n" + kUsage);
    }
  }
  if (options.file.empty()) throw std::invalid_argument(kUsage);
  return options;
}

moveit::core::RobotModelPtr load(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw std::invalid_argument(file + ": cannot be read");
  const urdf::ModelInterfaceSharedPtr urdf = urdf::parseURDF(text.str());
  if (!urdf) throw std::invalid_argument(file + ": is no URDF; see the message above");
  const auto srdf = std::make_shared<srdf::Model>();
  srdf->initString(*urdf, "<robot name=\"" + urdf->getName() + "\"/>");
  return std::make_shared<moveit::core::RobotModel>(urdf, srdf);
}

/// Sampled postures of a robot: the pairs of links that can collide, and how often they did.
class Sampling {
 public:
  Sampling(moveit::core::RobotModelPtr model, const Options& options)
      : model_(std::move(model)), scene_(model_), random_(options.seed) {
    for (const moveit::core::LinkModel* link : model_->getLinkModels()) {
      if (link->getShapes().empty()) continue;
      const moveit::core::LinkModel* parent = link->getParentLinkModel();
      while (parent && parent->getShapes().empty()) parent = parent->getParentLinkModel();
      if (parent) neighbors_.insert({parent->getName(), link->getName()});
      for (const std::string& other : links_) counts_[{other, link->getName()}] = 0;
      links_.push_back(link->getName());
    }
    for (const std::string& name : options.joints) {
      if (!model_->hasJointModel(name)) {
        throw std::invalid_argument("--joints " + name + ": the description has no such joint");
      }
      moving_.push_back(model_->getJointModel(name));
    }
    if (moving_.empty()) moving_ = std::as_const(*model_).getActiveJointModels();
    run(options.samples);
  }

  std::string reason(const LinkPair& pair) const {
    if (neighbors_.contains(pair)) return "Adjacent";
    const int count = counts_.at(pair);
    return count == 0 ? "Never" : count == samples_ ? "Always" : "";
  }
  double share(const LinkPair& pair) const { return 1.0 * counts_.at(pair) / samples_; }
  /// In the order of the description.
  std::vector<LinkPair> pairs() const {
    std::vector<LinkPair> found;
    for (std::size_t a = 0; a < links_.size(); ++a) {
      for (std::size_t b = a + 1; b < links_.size(); ++b) found.push_back({links_[a], links_[b]});
    }
    return found;
  }

 private:
  void run(int samples) {
    moveit::core::RobotState state(model_);
    collision_detection::CollisionRequest request;
    request.contacts = true;
    request.max_contacts = counts_.size() + 1;
    request.max_contacts_per_pair = 1;
    const collision_detection::AllowedCollisionMatrix every(links_, false);
    std::vector<double> values;
    for (samples_ = 0; samples_ < samples; ++samples_) {
      state.setToDefaultValues();
      for (const moveit::core::JointModel* joint : moving_) {
        values.resize(joint->getVariableCount());
        joint->getVariableRandomPositions(random_, values.data());
        state.setJointPositions(joint, values);
      }
      state.update();
      collision_detection::CollisionResult result;
      scene_.checkSelfCollision(request, result, state, every);
      for (const auto& [names, contacts] : result.contacts) {
        auto found = counts_.find(names);
        if (found == counts_.end()) found = counts_.find({names.second, names.first});
        if (found != counts_.end()) ++found->second;
      }
    }
  }

  moveit::core::RobotModelPtr model_;
  planning_scene::PlanningScene scene_;
  random_numbers::RandomNumberGenerator random_;
  std::vector<std::string> links_;
  std::vector<const moveit::core::JointModel*> moving_;
  std::set<LinkPair> neighbors_;
  std::map<LinkPair, int> counts_;
  int samples_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  const Sampling sampling(load(options.file), options);
  for (const LinkPair& pair : sampling.pairs()) {
    const std::string reason = sampling.reason(pair);
    const char *const a = pair.first.c_str(), *const b = pair.second.c_str();
    if (options.counts) {
      std::printf("%s,%s,%s,%g\n", a, b, reason.c_str(), sampling.share(pair));
    } else if (!reason.empty()) {
      std::printf("  <disable_collisions link1=\"%s\" link2=\"%s\" reason=\"%s\"/>\n", a, b,
                  reason.c_str());
    }
  }
  return 0;
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "sample_collisions: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "sample_collisions: %s\n", error.what());
  return 1;
}
