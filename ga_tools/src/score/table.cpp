// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "score/output.hpp"

namespace ga_tools::score {

namespace {

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string table_text(const Score& score) {
  constexpr std::size_t kName = 12, kColumn = 16;
  std::string text;
  for (std::size_t r = 0; r < score.rows.size(); ++r) {
    const Scenario& row = *score.rows[r];
    if (r > 0) text += '\n';
    text += std::string(row.id) + "  " + row.title + "\n" + std::string(kName, ' ');
    for (const Figure figure : row.figures) {
      const FigureKind& kind = kind_of(figure);
      text += padded(std::string(kind.label) + ", " + kind.unit, kColumn);
    }
    text += "  runs not ok\n";
    for (std::size_t l = 0; l < score.laws.size(); ++l) {
      const Cell& cell = score.cell(r, l);
      std::string name = cell.law->id;
      name.resize(kName, ' ');
      text += name;
      for (const Figure figure : row.figures)
        text += padded(number_text(cell.figures[figure]), kColumn);
      if (cell.failed > 0) {
        text += "  " + std::to_string(cell.failed) + " of " + std::to_string(cell.runs.size());
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace ga_tools::score
