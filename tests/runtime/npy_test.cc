// .npy files: numpy's own bytes, what is refused and how, round trips.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "einjit/error.h"
#include "runtime/file.h"
#include "runtime/npy.h"

using namespace einjit;

namespace {

std::string padded(std::string text, std::size_t to) { return text.append(to - text.size(), ' '); }

/// A file of version 1.0 with this dictionary, as numpy pads it.
std::string npy(const std::string& dictionary, const std::string& data) {
  return "\x93NUMPY\x01" + std::string("\0v\0", 3) + padded(dictionary, 117) + "\n" + data;
}

NpyArray parsed(const std::string& bytes) {
  return parse_npy(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

ErrorCode refusal(const std::string& bytes, const std::string& words = "") {
  try {
    parsed(bytes);
  } catch (const Error& e) {
    CAPTURE(e.what());
    CHECK(std::string(e.what()).find(words) != std::string::npos);
    return e.code();
  }
  FAIL("accepted");
  return ErrorCode::io_error;
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> values_of(const NpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

class Scratch {
 public:
  Scratch()
      : folder_(std::filesystem::temp_directory_path() /
                ("einjit_npy_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("npy: what numpy.save writes is what we write") {
  const Scratch scratch;
  const std::vector<double> m{1, 2, 3, 4, 5, 6};
  write_npy(scratch.path("c.npy"), View(m.data(), {2, 3}));
  CHECK(read_whole_file(scratch.path("c.npy")) ==
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", raw(m)));
  write_npy(scratch.path("f.npy"), View(m.data(), {2, 3}), NpyOrder::fortran);
  CHECK(read_whole_file(scratch.path("f.npy")) ==
        npy("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
            raw<double>({1, 4, 2, 5, 3, 6})));
  const std::vector<c64> v{{1, 2}, {3, 4}};
  write_npy(scratch.path("v.npy"), View(v.data(), {2}), NpyOrder::fortran);
  CHECK(read_whole_file(scratch.path("v.npy")) ==
        npy("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", raw(v)));
  const float one = 1;
  write_npy(scratch.path("0.npy"), View(&one, {}));
  CHECK(read_whole_file(scratch.path("0.npy")) ==
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", raw<float>({1})));
  CHECK(scratch.files() == 4);
}

TEST_CASE("npy: strided, reversed and conjugated views are written by their values") {
  const Scratch scratch;
  const std::vector<c128> z{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const View<c128> view(std::span<const c128>(z), 3, {2, 2}, {-1, -2});
  write_npy(scratch.path("z.npy"), view.conj());
  const NpyArray back = read_npy(scratch.path("z.npy"));
  CHECK(back.type == DType::c128);
  CHECK(back.extents == Dims{2, 2});
  CHECK(values_of<c128>(back) == std::vector<c128>{{7, -8}, {3, -4}, {5, -6}, {1, -2}});
}

TEST_CASE("npy: round trips of ranks, orders and empty shapes") {
  const Scratch scratch;
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {}, {0}, {3, 0, 2}, {1, 1}, {2, 3, 4}, std::vector<std::int64_t>(64, 1), {300000}}) {
    for (const NpyOrder order : {NpyOrder::c, NpyOrder::fortran}) {
      const Dims extents(shape);
      std::vector<float> values;
      std::int64_t n = 1;
      for (const std::int64_t e : extents) n *= e;
      for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i));
      write_npy(scratch.path("x.npy"), View(values.data(), extents), order);
      const NpyArray back = read_npy(scratch.path("x.npy"));
      CHECK(back.extents == extents);
      const Operand o = back;
      std::vector<float> found;
      for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t at = 0, rest = i;
        for (std::size_t axis = extents.size(); axis-- > 0;) {
          at += rest % extents[axis] * o.strides[axis];
          rest /= extents[axis];
        }
        found.push_back(reinterpret_cast<const float*>(o.data)[at]);
      }
      CHECK(found == values);
    }
  }
}

TEST_CASE("npy: other spellings of the header") {
  const std::string two = raw<double>({1, 2});
  CHECK(values_of<double>(parsed(npy("{\"shape\":(2L,),'descr':'=f8','fortran_order':False}",
                                     two))) == std::vector<double>{1, 2});
  CHECK(parsed(npy("{'descr': '|f8', 'fortran_order': True, 'shape': (1, 2), }", two)).order ==
        NpyOrder::fortran);
  CHECK(parsed(npy("{'descr': 'f8', 'fortran_order': False, 'shape': (2, 1,)}", two)).type ==
        DType::f64);
  const std::string dictionary = "{'descr': '<c16', 'fortran_order': False, 'shape': (), }\n";
  for (const char version : {'\2', '\3'})
    CHECK(values_of<c128>(parsed(std::string("\x93NUMPY") + version + '\0' +
                                 static_cast<char>(dictionary.size()) + std::string(3, '\0') +
                                 dictionary + two)) == std::vector<c128>{{1, 2}});
}

TEST_CASE("npy: element types that are not ours") {
  const auto with_type = [](const std::string& descr) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (2,), }",
               raw<double>({1, 2}));
  };
  CHECK(refusal(with_type("'<i8'"), "'<i8'") == ErrorCode::dtype_mismatch);
  CHECK(refusal(with_type("'|b1'"), "'|b1'") == ErrorCode::dtype_mismatch);
  CHECK(refusal(with_type("'<f2'"), "'<f2'") == ErrorCode::dtype_mismatch);
  CHECK(refusal(with_type("'>i4'"), "'>i4'") == ErrorCode::dtype_mismatch);
  CHECK(refusal(with_type("''"), "''") == ErrorCode::dtype_mismatch);
  CHECK(refusal(with_type("[('x', '<f8')]"), "records") == ErrorCode::dtype_mismatch);
  CHECK(refusal(with_type("'>f8'"), "astype('<f8')") == ErrorCode::unsupported);
}

TEST_CASE("npy: files that lie or end early") {
  const std::string good =
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", raw<double>({1, 2}));
  for (std::size_t n = 0; n < good.size(); ++n)
    CHECK(refusal(good.substr(0, n)) == ErrorCode::corrupt_file);
  CHECK(refusal(good + "x", "17 stand") == ErrorCode::corrupt_file);
  CHECK(refusal("PK\3\4 and so on", "begins with") == ErrorCode::corrupt_file);
  CHECK(refusal("\x93NUMPY\x04" + good.substr(7), "4.0") == ErrorCode::corrupt_file);
  const auto with_shape = [](const std::string& shape) {
    return npy("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }", "12345678");
  };
  CHECK(refusal(with_shape("(4611686018427387904, 4)"), "over 2^64") == ErrorCode::corrupt_file);
  CHECK(refusal(with_shape("(1000000000000,)"), "8000000000000") == ErrorCode::corrupt_file);
  for (const char* shape : {"(9223372036854775808,)", "(-1, 1)", "(-1, -1)", "(1)", "1", "(1, 1",
                            "(1 1)", "(1.0,)", "('a',)", "[1]"})
    CHECK(refusal(with_shape(shape)) == ErrorCode::corrupt_file);
  std::string ones = "(";
  for (int i = 0; i < 65; ++i) ones += "1,";
  const std::string text = "{'descr':'<f8','fortran_order':False,'shape':" + ones + ")}";
  CHECK(refusal("\x93NUMPY\x01" + std::string("\0", 1) + static_cast<char>(text.size()) +
                    std::string("\0", 1) + text + "12345678",
                "64 axes") == ErrorCode::corrupt_file);
  CHECK(refusal(npy("{'descr': '<f8', 'fortran_order': False, }", ""), "'shape'") ==
        ErrorCode::corrupt_file);
  CHECK(refusal(npy("{'descr': '<f8', 'descr': '<f8'}", ""), "twice") == ErrorCode::corrupt_file);
  CHECK(refusal(npy("{'descr': '<f8', 'order': False}", ""), "'order'") == ErrorCode::corrupt_file);
  CHECK(refusal(npy("{'descr': '<f8', 'fortran_order': 0}", ""), "neither") ==
        ErrorCode::corrupt_file);
}

TEST_CASE("npy: errors of the system name the path and the reason") {
  const Scratch scratch;
  const auto reason = [&](auto&& use) -> std::string {
    try {
      use();
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::io_error);
      return e.what();
    }
    return "nothing thrown";
  };
  const std::string missing = scratch.path("missing.npy");
  CHECK(reason([&] { read_npy(missing); }) ==
        "cannot open '" + missing + "': No such file or directory");
  CHECK(reason([&] { read_npy("/"); }).find("regular file") != std::string::npos);
  const double x = 1;
  const std::string nowhere = scratch.path("none/x.npy");
  CHECK(reason([&] { write_npy(nowhere, View(&x, {})); }).find("No such file") !=
        std::string::npos);
  CHECK(reason([&] { write_npy(scratch.path(""), View(&x, {})); }).find("regular file") !=
        std::string::npos);
  const std::vector<double> none;
  CHECK_THROWS_AS(
      write_npy(scratch.path("r.npy"), View(&x, Dims(std::vector<std::int64_t>(65, 1)))), Error);
  CHECK(scratch.files() == 0);
}
