// SPDX-License-Identifier: Apache-2.0

// Prints two tables: the speed of ga_dynamics and Orocos KDL for the PUMA and general chains of 2 to 12
// joints, all read from URDF at run time; and the cycle time of the control law with integral action on
// the PUMA. Benchmarks are interleaved at random and repeated; the tables show medians of processor
// time. Google Benchmark's own options work too (ga_bench --help).

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "ga_dynamics/dynamics.hpp"
#include "law_cycles.hpp"
#include "robots.hpp"

namespace {

using ga_dynamics::Chain;
using ga_dynamics::Dynamics;

constexpr int kStates = 256;  // different states, so that branch predictors cannot learn the motion
const KDL::Vector kGravity(0, 0, -9.81);

/// A robot with random states for both libraries.
struct Subject {
  Subject(std::string label, const Chain& chain)
      : name(std::move(label)),
        n(static_cast<std::size_t>(chain.size())),
        dynamics(chain),
        kdl(bench::kdl_chain(chain)),
        id(kdl, kGravity),
        fd(kdl, kGravity),
        parameters(kdl, kGravity),
        wrenches(kdl.getNrOfSegments()),
        kdl_out(static_cast<unsigned>(n)),
        kdl_matrix(static_cast<unsigned>(n)),
        kdl_zero(static_cast<unsigned>(n)),
        out(n),
        matrix(n * n) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> value(-3, 3);
    for (int k = 0; k < kStates; ++k) {
      for (auto* values : {&q, &qd, &third}) {
        values->emplace_back(n);
        for (double& v : values->back()) v = value(random);
      }
      for (const auto& [from, to] :
           {std::pair{&q, &kdl_q}, std::pair{&qd, &kdl_qd}, std::pair{&third, &kdl_third}}) {
        to->emplace_back(static_cast<unsigned>(n));
        for (std::size_t i = 0; i < n; ++i) to->back()(static_cast<unsigned>(i)) = from->back()[i];
      }
    }
    KDL::SetToZero(kdl_zero);
  }

  std::string name;
  std::size_t n;
  Dynamics dynamics;
  KDL::Chain kdl;
  KDL::ChainIdSolver_RNE id;
  KDL::ChainFdSolver_RNE fd;
  KDL::ChainDynParam parameters;
  KDL::Wrenches wrenches;
  KDL::JntArray kdl_out;
  KDL::JntSpaceInertiaMatrix kdl_matrix;
  KDL::JntArray kdl_zero;
  std::vector<double> out, matrix;
  std::vector<std::vector<double>> q, qd, third;
  std::vector<KDL::JntArray> kdl_q, kdl_qd, kdl_third;
};

struct Function {
  const char* name;
  std::function<void(Subject&, std::size_t)> ours, kdls;
};

const Function kFunctions[] = {
    {"inverse dynamics",
     [](Subject& s, std::size_t k) {
       s.dynamics.inverse_dynamics(s.q[k], s.qd[k], s.third[k], s.out);
     },
     [](Subject& s, std::size_t k) {
       s.id.CartToJnt(s.kdl_q[k], s.kdl_qd[k], s.kdl_third[k], s.wrenches, s.kdl_out);
     }},
    {"inertia matrix",
     [](Subject& s, std::size_t k) { s.dynamics.inertia_matrix(s.q[k], s.matrix); },
     [](Subject& s, std::size_t k) { s.parameters.JntToMass(s.kdl_q[k], s.kdl_matrix); }},
    {"bias", [](Subject& s, std::size_t k) { s.dynamics.bias(s.q[k], s.qd[k], s.out); },
     [](Subject& s, std::size_t k) {
       s.id.CartToJnt(s.kdl_q[k], s.kdl_qd[k], s.kdl_zero, s.wrenches, s.kdl_out);
     }},
    {"forward dynamics",
     [](Subject& s, std::size_t k) {
       s.dynamics.forward_dynamics(s.q[k], s.qd[k], s.third[k], s.out);
     },
     [](Subject& s, std::size_t k) {
       s.fd.CartToJnt(s.kdl_q[k], s.kdl_qd[k], s.kdl_third[k], s.wrenches, s.kdl_out);
     }},
};

std::string benchmark_name(const Function& function, const Subject& subject, const char* library) {
  return std::string(function.name) + "/" + subject.name + "/" + library;
}

void add(const Function& function, const std::shared_ptr<Subject>& subject, const char* library,
         const std::function<void(Subject&, std::size_t)>& call) {
  const auto run = [subject, call](benchmark::State& state) {
    std::size_t k = 0;
    for (auto _ : state) {
      call(*subject, k++ % kStates);
      benchmark::ClobberMemory();
    }
  };
  benchmark::RegisterBenchmark(benchmark_name(function, *subject, library).c_str(), run)
      ->ComputeStatistics("min", [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
      });
}

constexpr const char* kLaw = "law/";
constexpr int kSingleRuns = 30;

void add(const std::shared_ptr<bench::LawCycles>& law) {
  const auto run = [law](benchmark::State& state) {
    std::size_t k = law->count();
    for (auto _ : state) {
      if (k == law->count()) {
        state.PauseTiming();
        law->restart();
        k = 0;
        state.ResumeTiming();
      }
      law->run(k++);
      benchmark::ClobberMemory();
    }
  };
  benchmark::RegisterBenchmark((kLaw + law->name()).c_str(), run)
      ->ComputeStatistics("min", [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
      });
}

/// Processor time of one call, ns.
struct Times {
  double median = 0, fastest = 0;
};

/// Keeps the statistics; the table is printed at the end.
class TimesReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Aggregate) continue;
      Times& times = times_[run.run_name.function_name];
      if (run.aggregate_name == "median") times.median = run.GetAdjustedCPUTime();
      if (run.aggregate_name == "min") times.fastest = run.GetAdjustedCPUTime();
    }
  }
  Times of(const std::string& name) const {
    const auto found = times_.find(name);
    return found == times_.end() ? Times{} : found->second;
  }

 private:
  std::map<std::string, Times> times_;
};

void print_table(const TimesReporter& report,
                 const std::vector<std::shared_ptr<Subject>>& subjects) {
  std::printf("%-18s %-9s | %21s %8s | %21s %8s\n", "ns per call", "", "median: ours     KDL",
              "ratio", "fastest: ours     KDL", "ratio");
  for (const Function& function : kFunctions) {
    double first = 0, last = 0;
    for (const auto& subject : subjects) {
      const Times ours = report.of(benchmark_name(function, *subject, "ours"));
      const Times kdls = report.of(benchmark_name(function, *subject, "kdl"));
      if (ours.median == 0 || kdls.median == 0) continue;  // filtered out
      std::printf("%-18s %-9s | %12.0f %8.0f %7.1fx | %12.0f %8.0f %7.1fx\n", function.name,
                  subject->name.c_str(), ours.median, kdls.median, kdls.median / ours.median,
                  ours.fastest, kdls.fastest, kdls.fastest / ours.fastest);
      if (subject->name == "n = 4") first = ours.fastest;
      if (subject->name == "n = 12") last = ours.fastest;
    }
    if (first > 0 && last > 0) {
      std::printf("%-18s from 4 to 12 joints the cost grows %.2f-fold (3 is linear)\n\n",
                  function.name, last / first);
    }
  }
}

void print_laws(const TimesReporter& report,
                const std::vector<std::shared_ptr<bench::LawCycles>>& laws) {
  bool first = true;
  for (const auto& law : laws) {
    const Times times = report.of(kLaw + law->name());
    if (times.median == 0) continue;  // filtered out
    if (std::exchange(first, false)) {
      std::printf("%-28s | %21s | %s\n", "ns per cycle of the law", "mean: median  fastest",
                  "single cycles: median     99 %    worst");
    }
    const std::vector<double> single = law->single_cycles(kSingleRuns);
    std::printf("%-28s | %12.0f %8.0f | %21.0f %8.0f %8.0f\n", law->name().c_str(), times.median,
                times.fastest, single[single.size() / 2], single[single.size() * 99 / 100],
                single.back());
  }
}

}  // namespace

int main(int argc, char** argv) {
  // The robot given as the first argument, or ga_dynamics' own.
  std::filesystem::path puma = GA_ROBOTS "/puma560_akb.urdf";
  if (argc > 1 && argv[1][0] != '-') {
    puma = argv[1];
    --argc, ++argv;
  }
  std::vector<std::shared_ptr<Subject>> subjects;
  subjects.push_back(std::make_shared<Subject>("PUMA 560", Chain::from_urdf_file(puma)));
  for (int n = 2; n <= 12; ++n) {
    subjects.push_back(std::make_shared<Subject>("n = " + std::to_string(n),
                                                 Chain::from_urdf_text(bench::general_arm(n))));
  }
  std::vector<std::shared_ptr<bench::LawCycles>> laws;
  for (const bench::LawVariant& variant : bench::law_variants()) {
    laws.push_back(std::make_shared<bench::LawCycles>(Chain::from_urdf_file(puma), variant));
  }
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  std::string repetitions = "--benchmark_repetitions=11", time = "--benchmark_min_time=0.01";
  std::vector<char*> arguments{argv[0], interleave.data(), repetitions.data(), time.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  for (const auto& subject : subjects) {
    for (const Function& function : kFunctions) {
      add(function, subject, "ours", function.ours);
      add(function, subject, "kdl", function.kdls);
    }
  }
  for (const auto& law : laws) add(law);
  TimesReporter report;
  benchmark::RunSpecifiedBenchmarks(&report);
  print_table(report, subjects);
  print_laws(report, laws);
  return 0;
}
