/* Any algorithm of the library as an mvfst congestion controller: see docs/mvfst.md. */
#pragma once

#include <quic/congestion_control/CongestionController.h>
#include <quic/congestion_control/CongestionControllerFactory.h>
#include <quic/state/StateData.h>

#include "cc_ffi.h"

namespace quic {

class CcffiCongestionController : public CongestionController {
 public:
  /* `algorithm` is one of CCFFI_ALGORITHM_... */
  CcffiCongestionController(QuicConnectionStateBase& conn, uint32_t algorithm);

  void onRemoveBytesFromInflight(uint64_t bytes) override;
  void onPacketSent(const OutstandingPacketWrapper& packet) override;
  void onPacketAckOrLoss(const AckEvent* ackEvent, const LossEvent* lossEvent) override;
  [[nodiscard]] uint64_t getWritableBytes() const override;
  [[nodiscard]] uint64_t getCongestionWindow() const override;
  [[nodiscard]] Optional<Bandwidth> getBandwidth() const override;
  void setAppIdle(bool idle, TimePoint eventTime) override;
  void setAppLimited() override;
  [[nodiscard]] CongestionControlType type() const override;
  [[nodiscard]] bool isAppLimited() const override;
  void getStats(CongestionControllerStats& stats) const override;
  void setResumeHints(
      uint64_t cwndHintBytes,
      const Optional<std::chrono::milliseconds>& rttHint) override;

 private:
  [[nodiscard]] ccffi_path_state pathState(TimePoint now) const;
  void tellEcn(const AckEvent& ack, const ccffi_path_state& path);
  void tellRtt(const AckEvent& ack, const ccffi_path_state& path);
  void tellLosses(const LossEvent& loss, ccffi_path_state path, bool onAck);
  void tellAcks(const AckEvent& ack, const ccffi_path_state& path, uint64_t lostBytes);
  void setPacing();

  QuicConnectionStateBase& conn_;
  ccffi_controller controller_{};
  uint64_t datagram_;
  uint64_t lostBytes_{0};
  uint64_t maxInflight_{0};
  uint64_t ect0_{0}, ect1_{0}, ce_{0};
  Optional<TimePoint> appLimitedAt_;
  Optional<TimePoint> newestDataSent_;
  bool rttSeen_{false};
  bool appLimited_{false};
};

/* Makes connections use one algorithm, whatever type they ask for. */
class CcffiCongestionControllerFactory : public CongestionControllerFactory {
 public:
  explicit CcffiCongestionControllerFactory(uint32_t algorithm) : algorithm_(algorithm) {}

  std::unique_ptr<CongestionController> makeCongestionController(
      QuicConnectionStateBase& conn,
      CongestionControlType /* type */) override {
    return std::make_unique<CcffiCongestionController>(conn, algorithm_);
  }

 private:
  uint32_t algorithm_;
};

} // namespace quic
