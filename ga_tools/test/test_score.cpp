// SPDX-License-Identifier: Apache-2.0
// The law score: figures with known values, rows that do what they say, the comparison with a
// baseline.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>

#include "score/output.hpp"
#include "score/pid_sweep.hpp"
#include "score/stiction.hpp"

namespace ga_tools::score {
namespace {

const Arms& arms() {
  static const Arms both{ga_dynamics::Chain::from_urdf_file(PUMA_URDF),
                         ga_dynamics::Chain::from_urdf_file(GA_ROBOTS "/ur10e.urdf")};
  return both;
}

/// One joint with an effort limit of 10 N m, at rest at its goal for 2 s after a motion of 2 s.
RunRecording still() {
  RunRecording r;
  r.q.resize(1), r.q_ref.resize(1), r.qd.resize(1), r.tau.resize(1);
  for (int k = 0; k <= 4000; ++k) {
    r.time.push_back(1e-3 * k);
    for (auto* values : {&r.q[0], &r.q_ref[0], &r.qd[0], &r.tau[0]}) values->push_back(0);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      r.tool[axis].push_back(0);
      r.tool_ref[axis].push_back(0);
    }
  }
  return r;
}

ga_dynamics::Chain one_joint() {
  ga_dynamics::DhJoint joint;
  joint.body.mass = 1;
  joint.limits.effort = 10;
  return ga_dynamics::Chain::from_dh({joint});
}

constexpr double kDuration = 2;

TEST(Figures, ARunWithoutErrorHasNone) {
  const Figures f = figures_of(still(), one_joint(), kDuration, true);
  for (const FigureKind& kind : figure_kinds()) EXPECT_EQ(f[kind.figure], 0) << kind.key;
}

TEST(Figures, LateLeavesOutTheFirstHalfSecond) {
  RunRecording r = still();
  for (std::size_t k = 0; k < 500; ++k) r.tool[1][k] = 4e-3;
  const Figures f = figures_of(r, one_joint(), kDuration, false);
  EXPECT_NEAR(f[Figure::kRms], 2, 2e-3);  // 4 mm during a quarter of the time
  EXPECT_EQ(f[Figure::kLate], 0);
}

TEST(Figures, RestAndHuntAreThoseOfTheLastQuarterOfTheRest) {
  RunRecording r = still();
  for (std::size_t k = 2000; k < 3000; ++k) r.q[0][k] = 1;
  for (std::size_t k = 3600; k < 3700; ++k) r.q[0][k] = 3e-3;
  for (std::size_t k = 3700; k < 3800; ++k) r.q[0][k] = -2e-3;
  const Figures f = figures_of(r, one_joint(), kDuration, false);
  EXPECT_NEAR(f[Figure::kRest], 3, 1e-9);
  EXPECT_NEAR(f[Figure::kHunt], 5, 1e-9);
}

TEST(Figures, ChatterIsTheRmsChangeOfTheTorquePerCycle) {
  RunRecording r = still();
  for (std::size_t k = 0; k <= 2000; k += 2) r.tau[0][k] = 0.3;
  for (std::size_t k = 3000; k <= 4000; k += 2) r.tau[0][k] = 0.1;
  r.tau[0][2500] = 2;
  const Figures f = figures_of(r, one_joint(), kDuration, false);
  EXPECT_NEAR(f[Figure::kChatter], 3, 1e-9);
  EXPECT_NEAR(f[Figure::kRestChatter], 1, 1e-9);
  EXPECT_NEAR(f[Figure::kTorqueStep], 20, 1e-9);
}

TEST(Figures, PathIsTheDistanceWheneverTheToolIsThere) {
  RunRecording r = still();
  for (std::size_t k = 0; k <= 4000; ++k) {
    const double share = std::min(1.0, static_cast<double>(k) / 2000);
    r.tool_ref[0][k] = share;
    r.tool[0][k] = share * share;  // late, but on the path
    r.tool[2][k] = k == 1500 ? 3e-3 : 0;
  }
  const Figures f = figures_of(r, one_joint(), kDuration, true);
  EXPECT_NEAR(f[Figure::kPath], 3, 1e-6);
  EXPECT_GT(f[Figure::kRms], 100);
  for (std::size_t k = 2000; k <= 4000; ++k) r.tool[0][k] = 1.005;  // beyond its end
  EXPECT_NEAR(1e3 * path_deviation(r), 5, 1e-6);
}

TEST(Figures, SettledIsWhenAllJointsStayNear) {
  RunRecording r = still();
  for (std::size_t k = 2000; k < 2700; ++k) r.q[0][k] = 3e-3;
  EXPECT_NEAR(figures_of(r, one_joint(), kDuration, false)[Figure::kSettled], 0.7, 1e-9);
  r.q[0].back() = 3e-3;
  EXPECT_TRUE(std::isnan(figures_of(r, one_joint(), kDuration, false)[Figure::kSettled]));
}

TEST(Figures, ARunThatEndedEarlyHasNoFiguresOfItsRest) {
  RunRecording r = still();
  r.ended = Verdict{RunState::kFault, 0, 4, "overspeed"};
  const Figures f = figures_of(r, one_joint(), kDuration, false);
  for (const Figure figure : {Figure::kRest, Figure::kHunt, Figure::kRestChatter}) {
    EXPECT_TRUE(std::isnan(f[figure]));
  }
}

TEST(Scenarios, AreThirteenRowsWithTheirVariants) {
  std::set<std::string> ids;
  for (const Scenario& s : scenarios()) {
    EXPECT_TRUE(ids.insert(s.id).second) << s.id;
    EXPECT_FALSE(s.figures.empty()) << s.id;
    EXPECT_EQ(motion_of(s, arms().of(s.robot))->size(), 6) << s.id;
  }
  for (int row = 1; row <= 13; ++row) EXPECT_TRUE(ids.contains(std::to_string(row))) << row;
  EXPECT_THROW(scenario("99"), std::invalid_argument);
  EXPECT_THROW(score_law("magic"), std::invalid_argument);
}

TEST(Scenarios, RowsWithoutRandomNumbersDoNotDependOnTheSeed) {
  for (const char* id : {"5", "10"}) {
    ASSERT_TRUE(scenario(id).deterministic()) << id;
    const auto one = run(scenario(id), score_law("tracking"), 1, arms());
    const auto two = run(scenario(id), score_law("tracking"), 2, arms());
    EXPECT_EQ(one.figures[Figure::kRms], two.figures[Figure::kRms]) << id;
  }
  for (const char* id : {"1", "2", "3", "4", "7", "12", "13"}) {
    EXPECT_FALSE(scenario(id).deterministic()) << id;
  }
  const auto one = run(scenario("3"), score_law("tracking"), 1, arms());
  const auto two = run(scenario("3"), score_law("tracking"), 2, arms());
  EXPECT_NE(one.figures[Figure::kRms], two.figures[Figure::kRms]);
}

TEST(Run, ElasticDrivesDoNotChatterAtTheRecommendedGains) {
  // Resonances of 60 and 40 Hz; of the torque limit per cycle, RMS.
  constexpr double kMost = 0.5;  // %
  for (const char* id : {"12f", "12s"}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const auto result = run(scenario(id), score_law("integral"), seed, arms());
      EXPECT_EQ(result.state, "ok") << id;
      EXPECT_LE(result.figures[Figure::kChatter], kMost) << id << ", seed " << seed;
      EXPECT_LE(result.figures[Figure::kRestChatter], 1) << id << ", seed " << seed;
    }
  }
  // The usual gains are too fast for 60 Hz.
  EXPECT_GT(run(scenario("12"), score_law("integral"), 1, arms()).figures[Figure::kChatter], 2);
}

TEST(Scenarios, TheReferenceReachesTheLawAsTheRowSays) {
  // A joint controller uses no acceleration: row 9 is the complete reference to it, and row 8 is not.
  Scenario complete = scenario("9");
  complete.reference = ReferenceSignal::kComplete;
  Scenario held = complete;
  held.reference = ReferenceSignal::kHeldPositions;
  Scenario noisy = complete;
  noisy.reference = ReferenceSignal::kNoisyPositions;
  const auto rms = [](const Scenario& s, const char* law) {
    return run(s, score_law(law), 1, arms()).figures[Figure::kRms];
  };
  EXPECT_EQ(rms(scenario("9"), "pid"), rms(complete, "pid"));
  EXPECT_NE(rms(scenario("9"), "tracking"), rms(complete, "tracking"));
  EXPECT_GT(rms(held, "pd"), 1.5 * rms(complete, "pd")) << "no velocity, 5 ms late";
  const auto chatter = [](const Scenario& s) {
    return run(s, score_law("pd"), 1, arms()).figures[Figure::kChatter];
  };
  EXPECT_GT(chatter(noisy), 5 * chatter(complete));
}

TEST(Scenarios, AHandOverShortensTheStart) {
  const auto rms = [](const char* row) {
    return run(scenario(row), score_law("pid"), 1, arms()).figures[Figure::kRms];
  };
  EXPECT_LT(rms("1h"), 0.95 * rms("1"));
}

TEST(Score, IsTheSameForAnyNumberOfThreads) {
  ScoreOptions options;
  options.rows = {"3", "5"};
  options.laws = {"tracking", "pd"};
  options.seeds = 2;
  options.threads = 1;
  const auto one = to_json(measure_score(options, arms()));
  options.threads = 3;
  EXPECT_EQ(one, to_json(measure_score(options, arms())));
  EXPECT_EQ(one["rows"][0]["laws"]["pd"]["seeds"].size(), 2U);
  EXPECT_EQ(one["rows"][1]["laws"]["pd"]["seeds"].size(), 1U) << "nothing random in row 5";
}

TEST(Score, SeedsBeginAtTheFirstSeed) {
  ScoreOptions options;
  options.rows = {"3"};
  options.laws = {"pd"};
  options.seeds = 2;
  const auto from_one = measure_score(options, arms());
  options.first_seed = 2;
  options.seeds = 1;
  const auto from_two = measure_score(options, arms());
  EXPECT_EQ(from_one.cell(0, 0).runs[1].figures[Figure::kRms],
            from_two.cell(0, 0).runs[0].figures[Figure::kRms]);
  EXPECT_EQ(to_json(from_two)["first_seed"], 2);
}

TEST(Stiction, TheOtherMotionsAreOthersFromOtherPostures) {
  std::set<std::string> names;
  std::set<std::vector<double>> starts;
  const auto add = [&](const std::vector<Scenario>& list) {
    for (const Scenario& s : list) {
      if (!names.insert(s.motion).second) continue;
      std::vector<double> q(6), rates(6);
      motion_of(s, arms().puma560)->sample(0, q, rates, rates);
      starts.insert(q);
    }
  };
  add(stiction_scenarios());
  const std::size_t usual = starts.size();
  EXPECT_EQ(names.size(), 4U);
  add(stiction_scenarios(true));
  EXPECT_EQ(names.size(), 8U);
  EXPECT_EQ(starts.size(), usual + 4);
  EXPECT_EQ(stiction_scenarios(true).size(), stiction_scenarios().size());
}

TEST(Score, TakesTheMeanOrTheWorstOfTheSeeds) {
  ScoreOptions options;
  options.rows = {"3"};
  options.laws = {"pd"};
  options.seeds = 3;
  const Score score = measure_score(options, arms());
  const Cell& cell = score.cell(0, 0);
  double sum = 0, worst = 0;
  for (const auto& one : cell.runs) {
    sum += one.figures[Figure::kRms];
    worst = std::max(worst, one.figures[Figure::kRest]);
  }
  EXPECT_DOUBLE_EQ(cell.figures[Figure::kRms], sum / 3);
  EXPECT_EQ(cell.figures[Figure::kRest], worst);
}

TEST(PidSweep, TheTuningRuleIsOneOfTheGrid) {
  const auto laws = sweep_laws();
  EXPECT_EQ(laws.front(), &score_law("integral"));
  const auto rule = std::find_if(laws.begin() + 1, laws.end(),
                                 [](const ScoreLaw* law) { return law->pid == PidTuning{}; });
  ASSERT_NE(rule, laws.end());
  const auto swept = run(scenario("5"), **rule, 1, arms());
  const auto usual = run(scenario("5"), score_law("pid"), 1, arms());
  for (const Figure figure : scenario("5").figures) {
    EXPECT_EQ(swept.figures[figure], usual.figures[figure]) << kind_of(figure).key;
  }
}

TEST(PidSweep, EveryTuningOfTheGridIsAnotherController) {
  std::set<double> rms;
  for (const ScoreLaw* law : sweep_laws()) {
    rms.insert(run(scenario("5"), *law, 1, arms()).figures[Figure::kRms]);
  }
  EXPECT_EQ(rms.size(), sweep_laws().size());
  // A wrong payload sags less with more integral action.
  const auto late = [](double integral) {
    ScoreLaw law = score_law("pid");
    law.pid.integral = integral;
    return run(scenario("1"), law, 1, arms()).figures[Figure::kLate];
  };
  EXPECT_LT(late(0.5), 0.7 * late(0.1));
}

/// A sweep of row 1 with these main figures, the integral law first, and motions at rest [mrad].
Score sweep_of(std::vector<double> rms, std::vector<double> hunt) {
  Score score;
  score.rows = {&scenario("1")};
  score.seeds = 1;
  const auto laws = sweep_laws();
  for (std::size_t l = 0; l < rms.size(); ++l) {
    score.laws.push_back(laws[l]);
    Cell cell{score.rows[0], laws[l], std::vector<Run>(1), {}, 0};
    cell.figures[Figure::kRms] = cell.runs[0].figures[Figure::kRms] = rms[l];
    cell.figures[Figure::kHunt] = cell.runs[0].figures[Figure::kHunt] = hunt[l];
    cell.runs[0].state = "ok";
    score.cells.push_back(cell);
  }
  return score;
}

TEST(PidSweep, TheBestPidIsTheOneWithTheSmallestMainFigure) {
  const Score score = sweep_of({2, 4, 3, NAN, 3.5}, {0, 0, 1, 0, 0.2});
  const SweptRow row = swept_rows(score).at(0);
  EXPECT_EQ(row.integral, &score.cells[0]);
  EXPECT_EQ(row.best, &score.cells[2]);
  EXPECT_EQ(row.best_at_rest, &score.cells[4]) << "the best one hunts";
  EXPECT_FALSE(row.beaten || row.smaller);
  EXPECT_TRUE(row.others.empty());
  EXPECT_NE(sweep_text(score).find("integral law in no row"), std::string::npos);
}

TEST(PidSweep, RowsWhereThePidIsBetterAreNamed) {
  const Score score = sweep_of({2, 4, 1.9}, {0, 1, 1});
  const SweptRow row = swept_rows(score).at(0);
  EXPECT_TRUE(row.beaten);
  EXPECT_EQ(row.best_at_rest, nullptr);
  const std::string text = sweep_text(score);
  EXPECT_NE(text.find("every PID of the grid hunts"), std::string::npos);
  EXPECT_NE(text.find("beats the integral law in 1 (rms)"), std::string::npos);
  EXPECT_TRUE(swept_rows(sweep_of({NAN, 1}, {0, 0})).at(0).beaten);
  EXPECT_FALSE(swept_rows(sweep_of({1, NAN}, {0, 0})).at(0).beaten);
  const SweptRow tied = swept_rows(sweep_of({1.005, 1}, {0, 0})).at(0);
  EXPECT_TRUE(tied.smaller && !tied.beaten) << "too small to matter";
  const std::vector<Figure> hunt{Figure::kHunt};
  EXPECT_EQ(swept_rows(sweep_of({1, 2, 3}, {1, 1, 0})).at(0).others, hunt);
}

/// A score of one cell with this error.
Score score_of(double rms, std::size_t failed = 0) {
  Score score;
  score.rows = {&scenario("5")};
  score.laws = {&score_law("pd")};
  score.seeds = 1;
  Cell cell{score.rows[0], score.laws[0], std::vector<Run>(1), {}, failed};
  cell.figures[Figure::kRms] = rms;
  cell.runs[0].state = failed > 0 ? "oscillating" : "ok";
  cell.runs[0].time = {0, 1};
  cell.runs[0].error = {0, rms};
  score.cells.push_back(cell);
  return score;
}

TEST(Baseline, AQuarterMoreIsWorse) {
  const auto baseline = to_json(score_of(2));
  EXPECT_TRUE(worse_than(score_of(2.4), baseline, 0.25).empty());
  const auto worse = worse_than(score_of(2.6), baseline, 0.25);
  ASSERT_EQ(worse.size(), 1U);
  for (const char* part : {"row 5", "pd", "rms", "2.6 mm", "was 2 mm"}) {
    EXPECT_NE(worse[0].find(part), std::string::npos) << worse[0];
  }
  EXPECT_EQ(worse_than(score_of(NAN), baseline, 0.25).size(), 1U);
  EXPECT_EQ(worse_than(score_of(2, 1), baseline, 0.25).size(), 1U) << "a run that is not ok";
}

TEST(Baseline, DifferencesTooSmallToMatterAreNotWorse) {
  EXPECT_TRUE(worse_than(score_of(0.012), to_json(score_of(0.004)), 0.25).empty());
}

TEST(Baseline, WhatIsNoScoreIsRefused) {
  EXPECT_THROW(worse_than(score_of(1), nlohmann::json::object(), 0.25), std::runtime_error);
  EXPECT_THROW(worse_than(score_of(1), {{"rows", nlohmann::json::array()}}, 0.25),
               std::runtime_error);
}

TEST(Output, TableAndPageHaveEveryRowAndLaw) {
  const Score score = score_of(2.5, 1);
  for (const std::string& text : {table_text(score), page(score, "bench_laws <x>")}) {
    for (const char* part : {"pd", "2.5", "1 of 1", score.rows[0]->title}) {
      EXPECT_NE(text.find(part), std::string::npos) << part;
    }
    EXPECT_EQ(text.find("<x>"), std::string::npos);
  }
}

}  // namespace
}  // namespace ga_tools::score
