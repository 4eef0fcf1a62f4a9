// SPDX-License-Identifier: Apache-2.0

// The emulated PCL-726 at its registers.

#include <gtest/gtest.h>

#include "emulated_bus.hpp"

namespace puma_hardware::emulator {
namespace {

class EmulatedPcl726 : public EmulatedBus {
 protected:
  std::uint8_t read(unsigned offset) { return in(settings.pcl726.base, offset); }
  void write(unsigned offset, unsigned value) { out(settings.pcl726.base, offset, value); }
  void write_code(unsigned channel, unsigned code) {
    write(2 * channel, code >> 8);
    write(2 * channel + 1, code & 0xFF);
  }
};

TEST_F(EmulatedPcl726, IsAtFullNegativeVoltageUntilItIsWritten) {
  for (int joint = 0; joint < 6; ++joint) EXPECT_EQ(cards().output_volts(joint), -10);
}

TEST_F(EmulatedPcl726, PowersUpWithTheCodeOfItsBehavior) {
  behavior.power_up_code = 0xC00;
  for (int joint = 0; joint < 6; ++joint) EXPECT_EQ(cards().output_volts(joint), 5);
  write_code(0, 0x800);
  EXPECT_EQ(cards().output_volts(0), 0);
  EXPECT_EQ(cards().output_volts(1), 5);
}

TEST_F(EmulatedPcl726, InputsWithoutAWireFloatLowOrHigh) {
  settings.pcl726.watchdog_output = 8;
  settings.pcl726.watchdog_input = 15;
  for (const bool high : {false, true}) {
    behavior.inputs_float_high = high;
    restart();
    cards().set_digital_input(0, true);
    cards().set_digital_input(1, false);
    EXPECT_EQ(read(0xF), high ? 0xFD : 0x01);
    EXPECT_EQ(read(0xE), high ? 0x7F : 0x00) << "the read-back is wired";
    write(0xC, 1);
    EXPECT_EQ(read(0xE), high ? 0xFF : 0x80);
  }
}

TEST_F(EmulatedPcl726, CodesAreOffsetBinary) {
  // ACL-6126 manual: 000h −full scale, 800h 0 V, FFFh +full scale less one step.
  write_code(0, 0x800);
  write_code(1, 0xFFF);
  write_code(2, 0x800 + 500);
  EXPECT_EQ(cards().output_volts(0), 0);
  EXPECT_NEAR(cards().output_volts(1), 9.9951, 1e-4);
  EXPECT_NEAR(cards().output_volts(2), 500 / 204.8, 1e-12);
  expect_legal();
}

TEST_F(EmulatedPcl726, CodesAreTwosComplementIfJumperedSo) {
  settings.pcl726.coding = DacCoding::kTwosComplement;
  restart();
  EXPECT_EQ(cards().output_volts(0), 0);
  write_code(0, 0x800);
  EXPECT_EQ(cards().output_volts(0), -10) << "what is 0 V under offset binary";
  write_code(0, 0x7FF);
  EXPECT_NEAR(cards().output_volts(0), 9.9951, 1e-4);
}

TEST_F(EmulatedPcl726, HalfTheVoltsInTheFiveVoltRange) {
  settings.pcl726.range = DacRange::kBipolar5;
  restart();
  write_code(0, 0xC00);
  EXPECT_EQ(cards().output_volts(0), 2.5);
}

TEST_F(EmulatedPcl726, TheLowByteReleasesBoth) {
  write_code(0, 0x800);
  write(0, 0xC);
  EXPECT_EQ(cards().output_volts(0), 0) << "the high byte waits";
  write(1, 0x00);
  EXPECT_EQ(cards().output_volts(0), 5);
}

TEST_F(EmulatedPcl726, IgnoresTheUpperHalfOfTheHighByte) {
  write(0, 0xF8);
  write(1, 0);
  EXPECT_EQ(cards().output_volts(0), 0);
}

TEST_F(EmulatedPcl726, ChannelsAreWiredToJointsBySetting) {
  settings.pcl726.channel = {5, 4, 3, 2, 1, 0};
  restart();
  write_code(5, 0xC00);
  EXPECT_EQ(cards().output_volts(0), 5);
}

TEST_F(EmulatedPcl726, RemembersWhenAVoltageChanged) {
  write_code(0, 0x800);
  const std::int64_t then = cards().now_ns();
  EXPECT_EQ(cards().last_output_change_ns(), then);
  cards().advance(1'000'000);
  write_code(0, 0x800);
  EXPECT_EQ(cards().last_output_change_ns(), then) << "the same voltage again";
  write_code(0, 0x801);
  EXPECT_EQ(cards().last_output_change_ns(), cards().now_ns());
}

TEST_F(EmulatedPcl726, DigitalOutputs) {
  EXPECT_FALSE(cards().digital_output(0));
  write(0xD, 0x01);
  write(0xC, 0x80);
  for (int bit = 0; bit < 16; ++bit) {
    EXPECT_EQ(cards().digital_output(bit), bit == 0 || bit == 15) << bit;
  }
  write(0xD, 0x00);
  EXPECT_FALSE(cards().digital_output(0));
  EXPECT_TRUE(cards().digital_output(15));
  EXPECT_FALSE(cards().digital_output(16));
  EXPECT_FALSE(cards().digital_output(-1));
}

TEST_F(EmulatedPcl726, NotesALowByteWithoutItsHighByte) {
  write(1, 0x00);
  expect_illegal("wrong order");
  write_code(0, 0x800);
  expect_legal();
  write(1, 0x10);
  expect_illegal("wrong order");
  EXPECT_NEAR(cards().output_volts(0), 16 / 204.8, 1e-12) << "with the high byte of before";
}

TEST_F(EmulatedPcl726, NothingWrittenCanBeReadBack) {
  for (unsigned offset = 0; offset < 0xE; ++offset) {
    EXPECT_EQ(read(offset), 0xFF);
    expect_illegal("cannot be read");
  }
  read(0xE);
  read(0xF);
  expect_legal();
  write(0xE, 0);
  expect_illegal("cannot be written");
}

TEST_F(EmulatedPcl726, AMissingCardKeepsItsVoltage) {
  write_code(0, 0x900);
  cards().inject(CardFault::kMissing726);
  write_code(0, 0x800);
  EXPECT_EQ(read(0xE), 0xFF);
  expect_legal();
  EXPECT_NEAR(cards().output_volts(0), 1.25, 1e-12);
  cards().clear(CardFault::kMissing726);
  write_code(0, 0x800);
  EXPECT_EQ(cards().output_volts(0), 0);
}

}  // namespace
}  // namespace puma_hardware::emulator
