/* What the adapter uses of mvfst. */
#pragma once
#include <quic/congestion_control/CongestionController.h>
#include <memory>

namespace quic {
struct QuicConnectionStateBase;

struct CongestionControllerFactory {
  virtual ~CongestionControllerFactory() = default;
  virtual std::unique_ptr<CongestionController> makeCongestionController(
      QuicConnectionStateBase&, CongestionControlType) = 0;
};
} // namespace quic
