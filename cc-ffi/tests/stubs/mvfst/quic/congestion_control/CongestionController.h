/* What the adapter uses of mvfst. */
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace quic {
template <class T>
using Optional = std::optional<T>;
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using PacketNum = uint64_t;

enum class PacketNumberSpace : uint8_t { Initial, Handshake, AppData };
enum class CongestionControlType : uint8_t { Cubic, Custom };

struct Bandwidth {
  Bandwidth(uint64_t units, std::chrono::microseconds interval) : units(units), interval(interval) {}
  uint64_t units;
  std::chrono::microseconds interval;
};

struct OutstandingPacketMetadata {
  TimePoint time;
  uint32_t inflightBytes;
  uint16_t encodedSize;
};

struct OutstandingPacketWrapper {
  struct LastAckedPacketInfo {
    TimePoint sentTime, ackTime;
    uint64_t totalBytesAcked;
  };
  OutstandingPacketMetadata metadata;
};

struct AckEvent {
  struct AckPacket {
    OutstandingPacketMetadata outstandingPacketMetadata;
    Optional<OutstandingPacketWrapper::LastAckedPacketInfo> lastAckedPacketInfo;
    bool isAppLimited;
  };
  const AckPacket* getLargestNewlyAckedPacket() const;
  TimePoint ackTime;
  std::chrono::microseconds ackDelay;
  PacketNumberSpace packetNumberSpace;
  uint64_t ackedBytes, totalBytesAcked, ecnECT0Count, ecnECT1Count, ecnCECount;
  Optional<PacketNum> largestNewlyAckedPacket;
  TimePoint largestNewlyAckedPacketSentTime;
  Optional<std::chrono::microseconds> rttSample;
  bool implicit;
  std::vector<AckPacket> ackedPackets;
};

struct LossEvent {
  struct LostPacket {
    PacketNum packetNum;
    uint64_t encodedSize;
  };
  std::vector<LostPacket> lostPacketDetails;
  uint64_t lostBytes;
  uint32_t lostPackets;
  TimePoint lossTime;
  Optional<TimePoint> largestLostSentTime;
  bool persistentCongestion;
};

union CongestionControllerStats {
  uint8_t state;
};

struct CongestionController {
  using AckEvent = quic::AckEvent;
  using LossEvent = quic::LossEvent;
  virtual ~CongestionController() = default;
  virtual void onRemoveBytesFromInflight(uint64_t) = 0;
  virtual void onPacketSent(const OutstandingPacketWrapper&) = 0;
  virtual void onPacketAckOrLoss(const AckEvent*, const LossEvent*) = 0;
  virtual uint64_t getWritableBytes() const = 0;
  virtual uint64_t getCongestionWindow() const = 0;
  virtual Optional<Bandwidth> getBandwidth() const { return std::nullopt; }
  virtual void setAppIdle(bool, TimePoint) = 0;
  virtual void setAppLimited() = 0;
  virtual CongestionControlType type() const = 0;
  virtual bool isAppLimited() const = 0;
  virtual void getStats(CongestionControllerStats&) const = 0;
  virtual void setResumeHints(uint64_t, const Optional<std::chrono::milliseconds>& = std::nullopt) {}
};
} // namespace quic
