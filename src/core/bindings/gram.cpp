// Python's view of the examples and their kernel matrix.
#include <numeric>

#include "bindings/bindings.hpp"
#include "kernels/decisions.hpp"

namespace supple {

namespace {

void append(CsrPoints& points, const In1<std::int64_t>& offset, const In1<std::int64_t>& column,
            const In1<double>& value) {
  require(offset.shape(0) >= 1 && column.shape(0) == value.shape(0), "CSR arrays do not match");
  const std::size_t rows = offset.shape(0) - 1;
  require(offset.data()[0] == 0 && offset.data()[rows] == static_cast<std::int64_t>(value.shape(0)),
          "CSR offsets do not match the values");
  for (std::size_t i = 0; i < rows; ++i)
    require(offset.data()[i] <= offset.data()[i + 1], "CSR offsets must not decrease");
  for (std::size_t k = 0; k < column.shape(0); ++k)
    require(static_cast<std::size_t>(column.data()[k]) < points.n_features(),
            "CSR column index out of range");
  points.append({offset.data(), column.data(), value.data(), rows});
}

template <typename T>
void append(DensePoints<T>& points, const In2<T>& rows) {
  require(rows.shape(1) == points.n_features(), "wrong number of features");
  points.append(rows.data(), rows.shape(0));
}

template <typename P>
std::unique_ptr<PointsGram> make_gram(const std::string& kind, double gamma, double coef0,
                                      int degree, std::size_t n_features, std::size_t cache_bytes) {
  require(n_features <= 0x7fffffff, "X has at most 2^31 - 1 columns");
  return std::make_unique<PointsGram>(make_kernel(kind, gamma, coef0, degree),
                                      std::make_unique<P>(n_features), cache_bytes);
}

template <typename P>
P& points_of(PointsGram& gram) {
  auto* points = dynamic_cast<P*>(&gram.points());
  require(points != nullptr, "this Gram matrix holds another kind of points");
  return *points;
}

// One after the other; each time the last example takes the freed slot.
void remove_slots(Gram& gram, const In1<std::int64_t>& slots) {
  for (std::int64_t slot : checked_removals(slots, gram.size())) gram.remove(slot);
}

template <typename P, typename... Rows>
void append_to(PointsGram& gram, const Rows&... rows) {
  append(points_of<P>(gram), rows...);
  gram.points_appended();
}

template <typename T>
Out<T> dense_rows(PointsGram& gram, const In1<std::int64_t>& slots) {
  auto& points = points_of<DensePoints<T>>(gram);
  const std::size_t d = points.n_features(), n = slots.shape(0);
  Wiped<T> out(n * d);
  T* row = out.data();
  for (std::int64_t slot : checked_slots(gram, slots))
    points.row(slot, std::exchange(row, row + d));
  return to_numpy(std::move(out), {n, d});
}

using TermsIn = std::tuple<In1<std::int64_t>, In1<std::int64_t>, In2<double>>;

// See Decisions: `terms` are slots, heads and coefficients.
std::unique_ptr<Decisions> decisions(PointsGram& gram, std::size_t heads,
                                     const nb::sequence& terms) {
  std::vector<Decisions::Terms> checked;
  for (nb::handle part : terms) {
    const auto [slots, own_heads, coef] = nb::cast<TermsIn>(part);
    require(coef.shape(0) == own_heads.shape(0) && coef.shape(1) == slots.shape(0),
            "coef needs one row per head and one column per slot");
    for (std::size_t head : to_vector(own_heads)) require(head < heads, "head out of range");
    checked.push_back({checked_slots(gram, slots),
                       {own_heads.data(), own_heads.data() + own_heads.shape(0)},
                       coef.data()});
  }
  return std::make_unique<Decisions>(gram.kernel(), gram.points(), heads, checked);
}

Out<double> decide(const Decisions& decisions, const Points& queries, std::size_t threads) {
  require(queries.sparse() == decisions.points().sparse(),
          "these decisions have another kind of points");
  std::vector<double> out(queries.size() * decisions.heads());
  unlocked([&] { decisions.decide(queries, threads, out.data()); });
  return to_numpy(std::move(out), {queries.size(), decisions.heads()});
}

template <typename T>
Out<double> decide_dense(const Decisions& decisions, const In2<T>& rows, std::size_t threads) {
  DensePoints<T> queries(decisions.points().n_features());
  append(queries, rows);
  return decide(decisions, queries, threads);
}

Out<double> decide_csr(const Decisions& decisions, const In1<std::int64_t>& offset,
                       const In1<std::int64_t>& column, const In1<double>& value,
                       std::size_t threads) {
  CsrPoints queries(decisions.points().n_features());
  append(queries, offset, column, value);
  return decide(decisions, queries, threads);
}

FunctionGram::RowFunction row_function(nb::callable fn) {
  return [fn](std::size_t slot, std::size_t from, std::size_t to, double* out) {
    nb::gil_scoped_acquire gil;
    const auto values = nb::cast<In1<double>>(fn(slot, from, to));
    require(values.shape(0) == to - from, "the kernel returned a row of the wrong length");
    std::copy(values.data(), values.data() + values.shape(0), out);
  };
}

}  // namespace

void bind_gram(nb::module_& m) {
  m.def("kernel_names", [] {
    std::vector<std::string> names;
    for (const KernelForm& form : kernel_forms()) names.push_back(form.name);
    return names;
  });
  nb::class_<Gram>(m, "Gram")
      .def_prop_ro("size", &Gram::size)
      .def_rw("threads", &Gram::threads)
      .def_rw("keep_all_rows", &Gram::keep_all_rows)
      .def_prop_ro("held_bytes", &Gram::held_bytes)
      .def_prop_ro("evaluations",
                   [](Gram& g) {
                     return unlocked([&] {
                       const std::lock_guard reading(g.audits);
                       return g.evaluations();
                     });
                   })
      .def("release", &Gram::release)
      .def("remove", &remove_slots)
      .def("truncate",
           [](Gram& g, std::size_t size) {
             require(size <= g.size(), "cannot grow by truncate");
             g.truncate(size);
           })
      .def("closest_pair",
           [](Gram& g, const In1<std::int64_t>& slots, const In1<double>& label,
              const In1<double>& weight) {
             require(label.shape(0) == slots.shape(0) && weight.shape(0) == slots.shape(0),
                     "label and weight need one entry per slot");
             const Slots among = checked_slots(g, slots);
             return unlocked([&] { return g.closest_pair(among, label.data(), weight.data()); });
           })
      .def("diagonal", [](const Gram& g) { return to_numpy(g.diagonals()); });

  nb::class_<PointsGram, Gram>(m, "PointsGram")
      .def_static("float64", &make_gram<DensePoints<double>>)
      .def_static("float32", &make_gram<DensePoints<float>>)
      .def_static("csr", &make_gram<CsrPoints>)
      .def_prop_ro("largest_norm",  // squared
                   [](PointsGram& g) { return g.points().largest_norm(); })
      .def("set_kernel", [](PointsGram& g, const std::string& kind, double gamma, double coef0,
                            int degree) { g.set_kernel(make_kernel(kind, gamma, coef0, degree)); })
      .def("append", &append_to<DensePoints<double>, In2<double>>)
      .def("append", &append_to<DensePoints<float>, In2<float>>)
      .def("append_csr", &append_to<CsrPoints, In1<std::int64_t>, In1<std::int64_t>, In1<double>>)
      .def("rows_f64", &dense_rows<double>)
      .def("rows_f32", &dense_rows<float>)
      .def("rows_csr",
           [](PointsGram& g, const In1<std::int64_t>& slots) {
             auto& points = points_of<CsrPoints>(g);
             std::vector<std::int64_t> offset{0};
             Wiped<std::int64_t> column;
             Wiped<double> value;
             for (std::int64_t slot : checked_slots(g, slots)) {
               column.insert(column.end(), points.columns(slot).begin(),
                             points.columns(slot).end());
               value.insert(value.end(), points.values(slot).begin(), points.values(slot).end());
               offset.push_back(static_cast<std::int64_t>(column.size()));
             }
             return std::make_tuple(to_numpy(value), to_numpy(column), to_numpy(offset));
           })
      .def("decisions", &decisions)
      // What solvers work with: the values among examples in single precision, about how far off
      // they may be, and their sums, weighted by `coef`, at the first `to` of these examples.
      .def("rough_values", [](PointsGram& g, const In1<std::int64_t>& slots,
                              const In1<double>& coef, std::size_t to) {
        const std::size_t n = slots.shape(0);
        require(coef.shape(0) == n && to <= n, "coef needs one entry per slot, to is at most that");
        const std::shared_ptr<const SinglePoints> points = g.single(checked_slots(g, slots));
        std::vector<float> values(n * n);
        points->among(values.data(), n, g.threads);
        Positions all(n);
        std::iota(all.begin(), all.end(), 0);
        std::vector<double> sums(to, 0.0);
        points->add(all, to_vector(coef), to, sums.data(), g.threads);
        return std::make_tuple(to_numpy(std::move(values), {n, n}), points->error(),
                               to_numpy(sums));
      });

  nb::class_<Decisions>(m, "Decisions")
      .def("decide", &decide_dense<double>)
      .def("decide", &decide_dense<float>)
      .def("decide_csr", &decide_csr);

  nb::class_<FunctionGram, Gram>(m, "FunctionGram")
      .def("__init__",
           [](FunctionGram* self, nb::callable fn, std::size_t cache_bytes) {
             new (self) FunctionGram(row_function(std::move(fn)), cache_bytes);
           })
      .def("append", [](FunctionGram& g, const In1<double>& diagonal) {
        g.append(diagonal.data(), diagonal.shape(0));
      });
}

}  // namespace supple
