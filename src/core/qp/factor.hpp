// Factor of the margin system  Q = [[0, A_S], [A_S', K_SS]], K with the ridge on its diagonal.
//
// K~ = K + sigma A'A has the same solutions as K once A x is prescribed, and K~_SS is positive
// definite exactly when Q is regular (K_SS alone need not be: a linear kernel in d dimensions has
// up to d + 1 margin vectors). We keep the Cholesky factor U'U = K~_SS, row-major and upper, and
// V = U^-T [A_S', r] with one right-hand side r. A variable is appended as a last column. When one
// leaves, the rows below take up what its row held by rotations, and move up and to the left.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "linalg/aligned.hpp"

namespace supple {

inline constexpr std::size_t kMaxGroups = 2;
using PerGroup = std::array<double, kMaxGroups>;

class Factor {
 public:
  std::size_t size() const { return variables_.size(); }
  const std::vector<std::int64_t>& variables() const { return variables_; }
  bool has(std::size_t variable) const {
    return std::find(variables_.begin(), variables_.end(), variable) != variables_.end();
  }
  bool has_group(std::size_t group) const {
    return std::find(groups_.begin(), groups_.end(), group) != groups_.end();
  }

  void clear();
  void reserve(std::size_t count);
  void set_sigma(double sigma) { sigma_ = sigma; }  // only while empty

  struct Entry {
    std::int64_t variable;
    std::size_t group;
  };
  // Append variables. Each has a column of size() + entries.size() kernel values: with variables(),
  // then with the entries up to and including itself (the rest is ignored). r is to be set again.
  // False when one depends on those present, its Schur complement being no more than rounding; it
  // and those after it are not appended.
  bool append(std::span<const Entry> entries, const double* columns, std::size_t threads);
  void remove(std::size_t variable);
  void rename(std::int64_t from, std::int64_t to);
  // The direction of the refused variable: K~_SS^-1 k~, valid after append() of one returned false.
  void dependence(std::vector<double>& weights);

  void set_right_side(const std::vector<double>& r);  // in the order of variables()
  void scale_right_side(double factor);
  // K_SS dx + A_S' dmu = r,  A_S dx = s  (groups without members: dmu = 0, s ignored)
  void solve(const PerGroup& s, std::vector<double>& dx, PerGroup& dmu) const;

 private:
  double* row(std::size_t i) { return upper_.data() + i * stride_; }
  const double* row(std::size_t i) const { return upper_.data() + i * stride_; }

  std::vector<std::int64_t> variables_;
  std::vector<std::size_t> groups_;  // of the variables
  AlignedVector upper_;
  std::array<std::vector<double>, kMaxGroups + 1> v_;  // the last belongs to r
  std::vector<double> work_;
  std::size_t stride_ = 0;
  double sigma_ = 1.0;
};

}  // namespace supple
