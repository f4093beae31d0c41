#include "formats/wire/protobuf_writer.h"

#include <gtest/gtest.h>

namespace kheya {
namespace {

TEST(ProtobufWriter, BorrowsWithoutChangingTheMessage) {
  const std::string large(5000, 'x');
  ProtobufWriter borrowed_inner, copied_inner;
  for (ProtobufWriter* inner : {&borrowed_inner, &copied_inner}) inner->Int64(1, 7);
  borrowed_inner.Borrow(2, large);
  copied_inner.Bytes(2, large);
  for (ProtobufWriter* inner : {&borrowed_inner, &copied_inner}) inner->Bytes(3, "after");
  ProtobufWriter borrowed, copied;
  borrowed.Bytes(1, "before");
  copied.Bytes(1, "before");
  borrowed.Message(2, std::move(borrowed_inner));
  copied.Message(2, std::move(copied_inner));
  borrowed.Float(3, 1.5f);
  copied.Float(3, 1.5f);
  EXPECT_EQ(borrowed.bytes(), copied.bytes());
  EXPECT_EQ(borrowed.size(), copied.size());
  bool found = false;
  for (std::string_view piece : borrowed.pieces()) found = found || piece.data() == large.data();
  EXPECT_TRUE(found) << "the large part was copied";
}

}  // namespace
}  // namespace kheya
