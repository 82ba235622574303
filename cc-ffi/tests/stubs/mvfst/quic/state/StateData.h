/* What the adapter uses of mvfst. */
#pragma once
#include <quic/congestion_control/CongestionController.h>
#include <memory>

namespace quic {
struct Pacer {
  virtual ~Pacer() = default;
  virtual void refreshPacingRate(uint64_t, std::chrono::microseconds, TimePoint = Clock::now()) = 0;
  virtual void setPacingRate(uint64_t) = 0;
};

struct LossState {
  std::chrono::microseconds mrtt, srtt, lrtt, rttvar;
  Optional<std::chrono::microseconds> maybeLrtt;
  Optional<TimePoint> lastAckedTime;
  uint64_t totalBytesAcked, inflightBytes;
};

struct QuicConnectionStateBase {
  std::unique_ptr<Pacer> pacer;
  LossState lossState;
  struct {
    uint64_t initCwndInMss;
  } transportSettings;
  uint64_t udpSendPacketLen;
};
} // namespace quic
