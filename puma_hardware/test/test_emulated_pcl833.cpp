// SPDX-License-Identifier: Apache-2.0

// The emulated PCL-833 at its registers.

#include <gtest/gtest.h>

#include "emulated_bus.hpp"

namespace puma_hardware::emulator {
namespace {

class EmulatedPcl833 : public EmulatedBus {
 protected:
  std::uint8_t read(unsigned offset, std::size_t card = 0) {
    return in(settings.pcl833.base[card], offset);
  }
  void write(unsigned offset, unsigned value, std::size_t card = 0) {
    out(settings.pcl833.base[card], offset, value);
  }
  void prepare(unsigned mode = 3, std::size_t card = 0) {
    for (unsigned channel = 0; channel < 3; ++channel) {
      write(channel, mode, card);
      write(3 + channel, 0, card);
    }
    write(6, 7, card);
    write(7, 7, card);
    write(7, 0, card);
  }
  /// In the documented order.
  unsigned count(unsigned channel = 0, std::size_t card = 0) {
    const unsigned high = read(4 * channel + 2, card), low = read(4 * channel, card),
                   middle = read(4 * channel + 1, card);
    return high << 16 | middle << 8 | low;
  }
  void turn(std::int64_t to, int joint = 0) { cards().set_encoder(joint, to, 1000, 250); }
};

TEST_F(EmulatedPcl833, CountsNothingUntilAModeIsSet) {
  turn(100);
  EXPECT_EQ(count(), 0u);
  prepare();
  turn(150);
  EXPECT_EQ(count(), 50u);
  expect_legal();
}

TEST_F(EmulatedPcl833, CountsOneTwoOrFourEdgesPerLine) {
  for (const auto& [mode, expected] : {std::pair{1u, 25u}, {2u, 50u}, {3u, 100u}, {0u, 0u}}) {
    restart();
    prepare(mode);
    for (int position = 1; position <= 100; ++position) turn(position);
    EXPECT_EQ(count(), expected) << mode;
  }
}

TEST_F(EmulatedPcl833, EachJointIsOnItsChannelAndCard) {
  settings.pcl833.channel = {5, 4, 3, 2, 1, 0};
  restart();
  prepare(3, 0);
  prepare(3, 1);
  for (int joint = 0; joint < 6; ++joint) turn(10 * (joint + 1), joint);
  EXPECT_EQ(count(2, 1), 10u);
  EXPECT_EQ(count(0, 1), 30u);
  EXPECT_EQ(count(2, 0), 40u);
  EXPECT_EQ(count(0, 0), 60u);
}

TEST_F(EmulatedPcl833, AnEncoderPlacedIsNotCounted) {
  prepare();
  cards().place_encoder(0, 123456);
  turn(123460);
  EXPECT_EQ(count(), 4u);
}

TEST_F(EmulatedPcl833, WrapsAtTwentyFourBitsIfFreeRunning) {
  prepare();
  turn(-1);
  EXPECT_EQ(count(), 0xFFFFFFu);
  EXPECT_EQ(read(3), 1) << "overflow";
  turn(0x1000003);
  EXPECT_EQ(count(), 3u);
  write(7, 1);
  write(7, 0);
  EXPECT_EQ(read(3), 0);
}

TEST_F(EmulatedPcl833, HoldsAtOverflowIfNotFreeRunning) {
  prepare();
  write(6, 0);
  turn(0x1000010);
  EXPECT_EQ(count(), 0xFFFFFFu);
  turn(5);
  EXPECT_EQ(count(), 0xFFFFFFu) << "until the reset";
  write(7, 1);
  write(7, 0);
  turn(8);
  EXPECT_EQ(count(), 3u);
  turn(0);
  EXPECT_EQ(count(), 0u) << "held at the other end";
  EXPECT_EQ(read(3), 1);
}

TEST_F(EmulatedPcl833, ResetsToZeroOrMidScaleAndStaysThereWhileTheBitIsSet) {
  prepare();
  turn(100);
  write(7, 1);
  turn(200);
  EXPECT_EQ(count(), 0u);
  write(7, 0);
  turn(201);
  EXPECT_EQ(count(), 1u);
  write(0, 3 | 8);
  write(7, 1);
  write(7, 0);
  EXPECT_EQ(count(), 0x800000u);
}

TEST_F(EmulatedPcl833, ReadingTheThirdByteLatchesAllThree) {
  prepare();
  turn(0x0000FF);
  EXPECT_EQ(read(2), 0x00);
  turn(0x010000);
  EXPECT_EQ(read(0), 0xFF);
  EXPECT_EQ(read(1), 0x00);
  EXPECT_EQ(count(), 0x010000u);
}

TEST_F(EmulatedPcl833, BytesLieWhereTheSettingSays) {
  settings.pcl833.byte_offset = {2, 0, 1};
  restart();
  prepare();
  turn(0x123456);
  EXPECT_EQ(read(2), 0x56);
  EXPECT_EQ(read(0), 0x34);
  EXPECT_EQ(read(1), 0x12);
  expect_legal();
}

TEST_F(EmulatedPcl833, TheIndexLatchesTheCountInBothDirections) {
  prepare();
  EXPECT_EQ(count(), 0u);
  write(3, 1);
  turn(249);
  EXPECT_EQ(count(), 0u) << "no pulse yet: the latch keeps what it has";
  turn(260);
  EXPECT_EQ(count(), 250u);
  turn(3300);
  EXPECT_EQ(count(), 3250u) << "the last of several";
  turn(3251);
  EXPECT_EQ(count(), 3250u);
  turn(1900);
  EXPECT_EQ(count(), 2250u);
  turn(-800);
  EXPECT_EQ(count(), 0xFFFFFFu - 749u) << "at −750";
  write(3, 0);
  EXPECT_EQ(count(), 0xFFFFFFu - 799u) << "live again";
  expect_legal();
}

TEST_F(EmulatedPcl833, APulseComesExactlyAtItsPosition) {
  prepare();
  write(3, 1);
  turn(250);
  EXPECT_EQ(count(), 250u);
  turn(1251);
  EXPECT_EQ(count(), 1250u);
  turn(1250);
  turn(1249);
  EXPECT_EQ(count(), 1250u);
  turn(250);
  EXPECT_EQ(count(), 250u);
}

TEST_F(EmulatedPcl833, TheIndexResetsIfAskedTo) {
  prepare();
  write(3, 1 | 8);
  turn(2260);
  EXPECT_EQ(count(), 1000u) << "latched at the third pulse, reset at the second";
  write(3, 0);
  EXPECT_EQ(count(), 10u);
}

TEST_F(EmulatedPcl833, NotesBytesReadOutOfOrder) {
  prepare();
  read(0);
  expect_illegal("another order");
  read(2);
  read(1);
  expect_illegal("another order");
  read(2);
  read(0);
  read(6);  // another channel between is no matter
  read(1);
  expect_legal();
  read(1);
  expect_illegal("another order");
}

TEST_F(EmulatedPcl833, NotesRegistersAndValuesThatAreNotThere) {
  for (const unsigned offset : {0xCu, 0xDu, 0xFu}) {
    EXPECT_EQ(read(offset), 0xFF);
    expect_illegal("no source lists this register");
  }
  read(0xE);
  for (const unsigned overflow : {0x3u, 0x7u, 0xBu}) EXPECT_EQ(read(overflow), 0);
  expect_legal();
  for (unsigned offset = 0xB; offset < 0x10; ++offset) {
    write(offset, 0);
    expect_illegal("no source lists this register");
  }
  const std::pair<unsigned, unsigned> unknown[] = {{0, 6}, {0, 16}, {3, 5}, {6, 8},
                                                   {7, 8}, {8, 3},  {9, 5}};
  for (const auto& [offset, value] : unknown) {
    write(offset, value);
    expect_illegal("no source lists this value");
  }
  const std::pair<unsigned, unsigned> other[] = {{0, 4}, {1, 7}, {3, 4}, {8, 4}};
  for (const auto& [offset, value] : other) {
    write(offset, value);
    expect_illegal("does not support this function");
  }
  write(0xA, 255);
  write(8, 2);
  write(9, 8);
  expect_legal();
}

// --- what no source documents

TEST_F(EmulatedPcl833, AResetByStrobeActsOnce) {
  behavior.counter_reset = CounterReset::kStrobe;
  prepare();
  turn(100);
  write(7, 1);
  EXPECT_EQ(count(), 0u);
  turn(130);
  EXPECT_EQ(count(), 30u) << "although the bit is still set";
  write(7, 0);
  EXPECT_EQ(count(), 30u);
  expect_legal();
}

TEST_F(EmulatedPcl833, AReadLatchThatFollowsTearsACarry) {
  behavior.read_latch = Latch::kFollow;
  prepare();
  turn(0x0000FF);
  EXPECT_EQ(read(2), 0x00);
  EXPECT_EQ(read(0), 0xFF);
  turn(0x000100);
  EXPECT_EQ(read(1), 0x01) << "0x1FF in all";
  expect_legal();
}

TEST_F(EmulatedPcl833, AWidePulseLatchesAtItsLeadingEdge) {
  behavior.index_width = 20;
  prepare();
  count();
  write(3, 1);
  turn(260);
  EXPECT_EQ(count(), 250u);
  turn(500);
  EXPECT_EQ(count(), 250u);
  turn(260);
  EXPECT_EQ(count(), 270u) << "which downwards is the other one";
  turn(200);
  EXPECT_EQ(count(), 270u);
  turn(2300);
  EXPECT_EQ(count(), 2250u);
  expect_legal();
}

TEST_F(EmulatedPcl833, AnIndexLatchThatFollowsGivesTheCountDuringThePulse) {
  behavior.index_latch = Latch::kFollow;
  behavior.index_width = 20;
  prepare();
  count();
  write(3, 1);
  turn(249);
  EXPECT_EQ(count(), 0u);
  turn(255);
  EXPECT_EQ(count(), 255u);
  turn(263);
  EXPECT_EQ(count(), 263u);
  turn(300);
  EXPECT_EQ(count(), 270u) << "the last of the pulse";
  turn(3400);
  EXPECT_EQ(count(), 3270u);
  turn(3200);
  EXPECT_EQ(count(), 3250u);
  turn(2260);
  EXPECT_EQ(count(), 2260u);
  write(3, 0);
  turn(2258);
  EXPECT_EQ(count(), 2258u);
  turn(2262);
  write(3, 1);
  EXPECT_EQ(count(), 2262u) << "the pulse is there already";
  expect_legal();
}

TEST_F(EmulatedPcl833, AnIndexLatchThatFollowsLatchesAPulseOfOneCount) {
  behavior.index_latch = Latch::kFollow;
  prepare();
  count();
  write(3, 1);
  turn(251);
  EXPECT_EQ(count(), 250u);
  turn(1250);
  turn(1249);
  EXPECT_EQ(count(), 1250u);
  cards().inject(CardFault::kIndexLost, 0);
  turn(0);
  EXPECT_EQ(count(), 1250u);
}

// --- faults

TEST_F(EmulatedPcl833, AFrozenEncoderLosesItsCounts) {
  prepare();
  turn(100);
  cards().inject(CardFault::kEncoderFrozen, 0);
  turn(500);
  EXPECT_EQ(count(), 100u);
  cards().clear(CardFault::kEncoderFrozen, 0);
  turn(510);
  EXPECT_EQ(count(), 110u);
}

TEST_F(EmulatedPcl833, AJumpHappensOnce) {
  prepare();
  turn(100, 1);
  cards().inject(CardFault::kEncoderJump, 1);
  EXPECT_EQ(count(1), 4196u);
  turn(101, 1);
  EXPECT_EQ(count(1), 4197u);
  EXPECT_EQ(count(0), 0u);
}

TEST_F(EmulatedPcl833, AStuckBitReadsOne) {
  prepare();
  cards().inject(CardFault::kEncoderStuckBit, 0);
  turn(0x100);
  EXPECT_EQ(count(), 0x108u);
  cards().clear(CardFault::kEncoderStuckBit, 0);
  EXPECT_EQ(count(), 0x100u);
}

TEST_F(EmulatedPcl833, ALostIndexLatchesNothing) {
  prepare();
  count();
  write(3, 1);
  cards().inject(CardFault::kIndexLost, 0);
  turn(2000);
  EXPECT_EQ(count(), 0u);
  cards().clear(CardFault::kIndexLost, 0);
  turn(2300);
  EXPECT_EQ(count(), 2250u);
}

TEST_F(EmulatedPcl833, EitherCardCanBeMissing) {
  prepare(3, 0);
  prepare(3, 1);
  turn(7, 0);
  turn(8, 3);
  cards().inject(CardFault::kMissing833b);
  EXPECT_EQ(count(0, 0), 7u);
  EXPECT_EQ(count(0, 1), 0xFFFFFFu);
  cards().clear(CardFault::kMissing833b);
  cards().inject(CardFault::kMissing833a);
  EXPECT_EQ(count(0, 0), 0xFFFFFFu);
  EXPECT_EQ(count(0, 1), 8u);
  expect_legal();
}

}  // namespace
}  // namespace puma_hardware::emulator
